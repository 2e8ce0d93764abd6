package convert

import (
	"reflect"
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Templates keeps what pods of one owner share, so that ten thousand pods have as
// many templates as there are workloads. The zero Templates is empty.
type Templates struct {
	byOwner map[string][]*kube.Template
	labels  []kube.Pairs // those that pods had last
	// Traits describe a pod's program for the simulation; no API shows them.
	Traits func(*corev1.Pod) any
	// Resizable has the statuses of containers say what they were given.
	Resizable bool
}

// of is the template of a pod as the API server has it.
func (ts *Templates) of(in *corev1.Pod, owner *kube.Owner) *kube.Template {
	t := template(in)
	t.Resizable = ts.Resizable
	if ts.Traits != nil {
		t.Workload = ts.Traits(in)
	}
	key := ""
	if owner != nil {
		key = owner.UID
	}
	for _, old := range ts.byOwner[key] {
		if reflect.DeepEqual(old, t) {
			return old
		}
	}
	if ts.byOwner == nil {
		ts.byOwner = map[string][]*kube.Template{}
	}
	const most = 64 // of an owner whose pods all differ, or of none
	list := ts.byOwner[key]
	if len(list) >= most {
		list = list[1:]
	}
	ts.byOwner[key] = append(slices.Clip(list), t)
	return t
}

// shared returns the labels of an earlier pod, if it had the same ones.
func (ts *Templates) shared(labels kube.Pairs) kube.Pairs {
	for _, old := range ts.labels {
		if slices.Equal(old, labels) {
			return old
		}
	}
	const most = 64 // workloads, in each zone
	if len(ts.labels) == most {
		ts.labels = slices.Delete(ts.labels, 0, 1)
	}
	ts.labels = append(ts.labels, labels)
	return labels
}

func template(in *corev1.Pod) *kube.Template {
	s := &in.Spec
	t := &kube.Template{
		GenerateName: in.GenerateName, GraceSeconds: corev1.DefaultTerminationGracePeriodSeconds, NodeSelector: pairs(s.NodeSelector), SchedulerName: s.SchedulerName,
		RestartPolicy: string(s.RestartPolicy), HostNetwork: s.HostNetwork, PriorityClass: s.PriorityClassName,
	}
	if s.TerminationGracePeriodSeconds != nil {
		t.GraceSeconds = *s.TerminationGracePeriodSeconds
	}
	if s.Priority != nil {
		t.Priority = *s.Priority
	}
	for i := range s.Containers {
		t.Containers = append(t.Containers, containerSpec(&s.Containers[i], in.Annotations))
	}
	for _, o := range s.Tolerations {
		one := kube.Toleration{Key: o.Key, Operator: string(o.Operator), Value: o.Value, Effect: string(o.Effect), Seconds: -1}
		if o.TolerationSeconds != nil {
			one.Seconds = max(*o.TolerationSeconds, 0) // negative ones are treated as 0
		}
		t.Tolerations = append(t.Tolerations, one)
	}
	for i := range s.TopologySpreadConstraints {
		o := &s.TopologySpreadConstraints[i]
		one := kube.Spread{MaxSkew: int(o.MaxSkew), TopologyKey: o.TopologyKey, WhenUnsatisfiable: string(o.WhenUnsatisfiable)}
		if o.LabelSelector != nil {
			one.Selector = pairs(o.LabelSelector.MatchLabels)
		}
		t.Spread = append(t.Spread, one)
	}
	for i := range s.Volumes {
		if claimOf(in, &s.Volumes[i]) != "" {
			t.Volume = s.Volumes[i].Name
			break
		}
	}
	t.Demands = demands(in)
	t.Unprobed = !slices.ContainsFunc(s.Containers, probed) && !slices.ContainsFunc(s.InitContainers, probed)
	return t
}

func probed(c corev1.Container) bool { return c.ReadinessProbe != nil || c.StartupProbe != nil }

func containerSpec(c *corev1.Container, annotations map[string]string) kube.ContainerSpec {
	one := kube.ContainerSpec{
		Name: c.Name, Image: c.Image,
		CPU: c.Resources.Requests.Cpu().MilliValue(), Memory: c.Resources.Requests.Memory().Value(),
		CPULimit: c.Resources.Limits.Cpu().MilliValue(), MemoryLimit: c.Resources.Limits.Memory().Value(),
		End: endOf(c, annotations),
	}
	for _, policy := range c.ResizePolicy {
		switch policy.ResourceName {
		case corev1.ResourceCPU:
			one.CPUPolicy = string(policy.RestartPolicy)
		case corev1.ResourceMemory:
			one.MemoryPolicy = string(policy.RestartPolicy)
		}
	}
	return one
}

// claimOf names the claim of a volume: the one that it names, or that of its own
// (k8s.io/component-helpers, storage/ephemeral, VolumeClaimName), or "" where it has none.
func claimOf(in *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return in.Name + "-" + v.Name
	}
	return ""
}

// PodFromAPI takes over what others than its kubelet have written of a pod: metadata,
// its place, what its containers are to be, deletion, and conditions of theirs.
// whole says that no kubelet of ours knows better: then the status is the server's.
func (ts *Templates) PodFromAPI(p *kube.Pod, in *corev1.Pod, c Clock, whole bool) {
	p.Namespace, p.Name = in.Namespace, in.Name
	c.meta(&p.Meta, &in.ObjectMeta)
	p.Labels = ts.shared(p.Labels)
	p.Template = ts.of(in, p.Owner)
	p.NodeName, p.Nominated = in.Spec.NodeName, in.Status.NominatedNodeName
	p.Pinned, p.Gated = pinned(in), len(in.Spec.SchedulingGates) > 0
	p.OtherClaims = nil
	first := true
	for i := range in.Spec.Volumes {
		switch claim := claimOf(in, &in.Spec.Volumes[i]); {
		case claim == "":
		case first:
			p.Claim, first = claim, false
		default:
			p.OtherClaims = append(p.OtherClaims, claim)
		}
	}
	if whole || p.Phase == "" {
		ts.statusFromAPI(p, in, c)
		return
	}
	for i := range in.Status.Conditions {
		if is := podCondition(&in.Status.Conditions[i], c); !kubelets(is.Type) || is.Type == string(corev1.PodScheduled) && p.Conditions.Get(is.Type) == nil {
			p.Conditions = with(p.Conditions, is)
		}
	}
}

// kubelets reports whether a condition of a pod is its kubelet's; PodScheduled is
// the scheduler's, and passed on.
func kubelets(kind string) bool {
	switch kind {
	case "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled", "PodResizePending", "PodResizeInProgress":
		return true
	}
	return false
}

func (ts *Templates) statusFromAPI(p *kube.Pod, in *corev1.Pod, c Clock) {
	s := &in.Status
	p.Phase, p.Reason, p.Message = string(s.Phase), s.Reason, s.Message
	if p.Phase == "" {
		p.Phase = string(corev1.PodPending)
	}
	p.HostIP, p.PodIP, p.ObservedGeneration = s.HostIP, s.PodIP, s.ObservedGeneration
	if s.StartTime != nil {
		p.Started = c.instant(*s.StartTime)
	}
	p.Conditions = nil
	for i := range s.Conditions {
		p.Conditions = append(p.Conditions, podCondition(&s.Conditions[i], c))
	}
	p.Containers, p.Init = c.containers(s.ContainerStatuses), c.containers(s.InitContainerStatuses)
}

func (c Clock) containers(in []corev1.ContainerStatus) (out []kube.Container) {
	for i := range in {
		o := &in[i]
		out = append(out, kube.Container{
			Given: given(o),
			Name:  o.Name, Image: o.Image, ImageID: o.ImageID, ContainerID: o.ContainerID, Ready: o.Ready,
			Started: o.Started != nil && *o.Started, Restarts: o.RestartCount, State: c.state(&o.State), Last: c.state(&o.LastTerminationState),
		})
	}
	return out
}

// given are the resources of a container's status, nil where it has none.
func given(o *corev1.ContainerStatus) *kube.Given {
	if o.Resources == nil {
		return nil
	}
	g := &kube.Given{Actual: kube.Resources{
		CPU: o.Resources.Requests.Cpu().MilliValue(), Memory: o.Resources.Requests.Memory().Value(),
		CPULimit: o.Resources.Limits.Cpu().MilliValue(), MemoryLimit: o.Resources.Limits.Memory().Value(),
	}}
	g.Allocated = kube.Resources{CPU: o.AllocatedResources.Cpu().MilliValue(), Memory: o.AllocatedResources.Memory().Value()}
	return g
}

func podCondition(in *corev1.PodCondition, c Clock) kube.Condition {
	return kube.Condition{
		Type: string(in.Type), Status: string(in.Status), Reason: in.Reason, Message: in.Message,
		Transition: c.instant(in.LastTransitionTime), Observed: in.ObservedGeneration,
	}
}

func (c Clock) state(in *corev1.ContainerState) kube.ContainerState {
	switch {
	case in.Running != nil:
		return kube.ContainerState{Kind: "running", StartedAt: c.instant(in.Running.StartedAt)}
	case in.Terminated != nil:
		t := in.Terminated
		return kube.ContainerState{
			Kind: "terminated", Reason: t.Reason, Message: t.Message, ExitCode: int(t.ExitCode),
			StartedAt: c.instant(t.StartedAt), Finished: c.instant(t.FinishedAt), ContainerID: t.ContainerID,
		}
	case in.Waiting != nil:
		return kube.ContainerState{Kind: "waiting", Reason: in.Waiting.Reason, Message: in.Waiting.Message}
	}
	return kube.ContainerState{}
}

// pinned is the node that a DaemonSet's pod asks for, and nothing else by its required affinity
// (util.ReplaceDaemonSetPodNodeNameNodeAffinity of pkg/controller/daemon/util).
func pinned(in *corev1.Pod) string {
	a := in.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 || len(terms[0].MatchExpressions) > 0 || len(terms[0].MatchFields) != 1 {
		return ""
	}
	f := terms[0].MatchFields[0]
	if f.Key != metav1.ObjectNameField || f.Operator != corev1.NodeSelectorOpIn || len(f.Values) != 1 {
		return ""
	}
	return f.Values[0]
}
