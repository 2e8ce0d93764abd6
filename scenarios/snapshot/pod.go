package snapshot

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/mask"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// A pod is one that takes room, or waits for some.
type pod struct {
	meta
	node    string
	hash    string          // of the template, by which a Deployment's ReplicaSet is named
	spec    *corev1.PodSpec // shared by all pods that have the same
	claims  []claimOf
	dynamic bool // it has claims of devices
	// unbound says that it had a term which binds it to its node, and that a controller of another kind than DaemonSet may have set.
	unbound bool
	// unready says that its condition Ready isn't True, and lingers that it has a hook or a finalizer that its end waits for.
	unready, lingers bool
	// comesBack says that it is being deleted, and that its workload makes it again.
	comesBack bool
}

// A claimOf is a claim of a pod.
type claimOf struct {
	types.NamespacedName
	own bool // it comes and goes with the pod
}

func (r *Reading) pod(o *podObject) (*pod, error) {
	p := &pod{
		meta: o.meta, node: o.Spec.NodeName, hash: o.Labels[appsv1.DefaultDeploymentUniqueLabelKey], dynamic: len(o.Spec.ResourceClaims) > 0,
	}
	for _, c := range o.Status.Conditions {
		p.unready = p.unready || c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue
	}
	p.lingers = slices.ContainsFunc(o.Finalizers, func(f string) bool { return f != batchv1.JobTrackingFinalizer }) ||
		slices.ContainsFunc(o.Spec.Containers, func(c container) bool { return c.Lifecycle.PreStop != nil })
	for _, v := range o.Spec.Volumes {
		switch {
		case v.Claim != nil && v.Claim.Name != "":
			p.claims = append(p.claims, claimOf{types.NamespacedName{Namespace: o.Namespace, Name: v.Claim.Name}, false})
		case v.Ephemeral != nil: // k8s.io/component-helpers/storage/ephemeral: VolumeClaimName
			p.claims = append(p.claims, claimOf{types.NamespacedName{Namespace: o.Namespace, Name: o.Name + "-" + v.Name}, true})
		}
	}
	var err error
	p.unbound = p.foreign() && boundTo(o.Spec.Affinity)
	p.spec, err = r.cleaned(&o.Spec, p.daemon() || p.unbound)
	return p, err
}

// foreign reports whether a controller that nodesim has no model of keeps the pod.
func (p *pod) foreign() bool {
	owner := p.controller()
	return owner != nil && kindsAs[owner.Kind] == ""
}

// boundTo reports whether an affinity requires one node by its name, as that of a DaemonSet's pods does, and nothing else of nodes.
func boundTo(a *corev1.Affinity) bool {
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return len(terms) == 1 && len(terms[0].MatchFields) == 1 && len(terms[0].MatchExpressions) == 0
}

// ofTemplate are a pod's labels without those that no template has.
func ofTemplate(all map[string]string) map[string]string {
	own := maps.Clone(all)
	for _, label := range perPod {
		delete(own, label)
	}
	return own
}

// perPod are labels that controllers and admission give pods, and no template has.
var perPod = []string{
	appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, "pod-template-generation",
	appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel, corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
	batchv1.ControllerUidLabel, batchv1.JobNameLabel, "controller-uid", "job-name", batchv1.JobCompletionIndexAnnotation,
}

// cleaned is what a scenario file says of a pod's spec: without what admission and controllers add to each pod, or to those of
// DaemonSets, and without defaults.
func (r *Reading) cleaned(s *podSpec, daemon bool) (*corev1.PodSpec, error) {
	for _, t := range podTerms(s.Affinity) { // see spreadOf
		t.LabelSelector = withoutKeys(t.LabelSelector, slices.Concat(t.MatchLabelKeys, t.MismatchLabelKeys))
	}
	out := &corev1.PodSpec{
		NodeSelector: s.NodeSelector, Affinity: affinityOf(s.Affinity, daemon), TopologySpreadConstraints: spreadOf(s.TopologySpreadConstraints),
		PriorityClassName: s.PriorityClassName, SchedulingGates: s.SchedulingGates, HostNetwork: s.HostNetwork, Overhead: s.Overhead,
		RuntimeClassName: s.RuntimeClassName, ReadinessGates: s.ReadinessGates, Resources: withoutClaims(s.Resources),
		InitContainers: containersOf(s.InitContainers), Containers: containersOf(s.Containers),
	}
	if s.Priority != nil && (*s.Priority != 0 || s.PriorityClassName != "") {
		out.Priority = s.Priority
	}
	if s.PreemptionPolicy != nil && *s.PreemptionPolicy != corev1.PreemptLowerPriority {
		out.PreemptionPolicy = s.PreemptionPolicy
	}
	if s.SchedulerName != corev1.DefaultSchedulerName {
		out.SchedulerName = s.SchedulerName
	}
	if g := s.TerminationGracePeriodSeconds; g != nil && *g != corev1.DefaultTerminationGracePeriodSeconds {
		most := int64(spec.MaxDuration.Seconds())
		kept := min(max(*g, 0), most)
		out.TerminationGracePeriodSeconds = &kept
	}
	for _, t := range s.Tolerations {
		if !addedToleration(&t, daemon) {
			out.Tolerations = append(out.Tolerations, t)
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	if same := r.specs[string(text)]; same != nil {
		return same, nil
	}
	r.specs[string(text)] = out
	return out, nil
}

// spreadOf are constraints without what kube-apiserver has made of their matchLabelKeys: it puts the pod's own values of these keys into
// the selector, and those of a simulated rollout are others (KEP-3243).
func spreadOf(all []corev1.TopologySpreadConstraint) []corev1.TopologySpreadConstraint {
	all = slices.Clone(all)
	for i := range all {
		all[i].LabelSelector = withoutKeys(all[i].LabelSelector, all[i].MatchLabelKeys)
	}
	return all
}

// withoutKeys is a selector without what it asks of some keys.
func withoutKeys(s *metav1.LabelSelector, keys []string) *metav1.LabelSelector {
	if s == nil || len(keys) == 0 {
		return s
	}
	out := *s
	out.MatchExpressions = slices.DeleteFunc(slices.Clone(s.MatchExpressions), func(r metav1.LabelSelectorRequirement) bool {
		return slices.Contains(keys, r.Key)
	})
	return &out
}

// affinityOf is an affinity; that of a DaemonSet's pod is without the term by which its controller binds it to its node, which has taken
// the place of the pod's own required terms (k8s.io/kubernetes/pkg/controller/daemon/util: ReplaceDaemonSetPodNodeNameNodeAffinity).
func affinityOf(a *corev1.Affinity, daemon bool) *corev1.Affinity {
	if a == nil {
		return nil
	}
	out := *a
	if n := a.NodeAffinity; daemon && n != nil && n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		bound := slices.ContainsFunc(n.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms,
			func(t corev1.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 })
		if bound {
			own := *n
			own.RequiredDuringSchedulingIgnoredDuringExecution = nil
			out.NodeAffinity = &own
			if len(own.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
				out.NodeAffinity = nil
			}
		}
	}
	if out.NodeAffinity == nil && out.PodAffinity == nil && out.PodAntiAffinity == nil {
		return nil
	}
	return &out
}

// addedToleration reports whether the API server's admission (plugin/pkg/admission/defaulttolerationseconds) or the controller of
// DaemonSets (pkg/controller/daemon/util, AddOrUpdateDaemonPodTolerations) adds a toleration to pods, as the simulation does.
func addedToleration(t *corev1.Toleration, daemon bool) bool {
	if t.Operator != corev1.TolerationOpExists || !strings.HasPrefix(t.Key, "node.kubernetes.io/") {
		return false
	}
	switch t.Key {
	case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable:
		if t.TolerationSeconds == nil {
			return daemon && t.Effect == corev1.TaintEffectNoExecute
		}
		return *t.TolerationSeconds == 300 && t.Effect == corev1.TaintEffectNoExecute
	case corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable,
		corev1.TaintNodeNetworkUnavailable:
		return daemon && t.Effect == corev1.TaintEffectNoSchedule
	}
	return false
}

func containersOf(list []container) (out []corev1.Container) {
	for i := range list {
		c := &list[i]
		one := corev1.Container{
			Name: c.Name, Image: imageOf(c.Image), ResizePolicy: c.ResizePolicy, RestartPolicy: c.RestartPolicy,
			Resources: corev1.ResourceRequirements{Limits: c.Resources.Limits, Requests: c.Resources.Requests},
		}
		if slices.ContainsFunc(one.ResizePolicy, func(p corev1.ContainerResizePolicy) bool { return p.RestartPolicy != corev1.NotRequired }) {
			one.ResizePolicy = slices.Clone(one.ResizePolicy)
		} else {
			one.ResizePolicy = nil
		}
		for _, port := range c.Ports {
			if port.HostPort > 0 { // the others keep no pod off a node
				port.Name = ""
				one.Ports = append(one.Ports, port)
			}
		}
		out = append(out, one)
	}
	return out
}

// withoutClaims are the resources of a pod as a whole, without claims of devices.
func withoutClaims(r *corev1.ResourceRequirements) *corev1.ResourceRequirements {
	if r == nil || len(r.Limits)+len(r.Requests) == 0 {
		return nil
	}
	return &corev1.ResourceRequirements{Limits: r.Limits, Requests: r.Requests}
}

// imageOf is an image's name without credentials; empty where no file may hold it, and nodesim makes one up.
func imageOf(name string) string {
	name = mask.String(name)
	if len(name) > 255 || strings.Trim(name, imageLetters) != "" || strings.HasPrefix(name, "/") {
		return ""
	}
	return strings.TrimLeft(name, "._/:@-")
}

const imageLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@-"
