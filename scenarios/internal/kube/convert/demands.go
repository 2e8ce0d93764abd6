package convert

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/kubedefaults"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// demands are what a pod asks for beside what every Template says, nil where that is nothing.
func demands(in *corev1.Pod) *kube.Demands {
	s := &in.Spec
	d := kube.Demands{NeverPreempts: s.PreemptionPolicy != nil && *s.PreemptionPolicy == corev1.PreemptNever}
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		one := containerSpec(c, nil)
		one.Sidecar = sidecar(c)
		d.Init = append(d.Init, one)
	}
	for _, g := range s.ReadinessGates {
		d.ReadinessGates = append(d.ReadinessGates, string(g.ConditionType))
	}
	if s.ActiveDeadlineSeconds != nil {
		deadline := time.Duration(*s.ActiveDeadlineSeconds) * time.Second
		d.Deadline = &deadline
	}
	affinities(&d, in)
	for i := range s.TopologySpreadConstraints {
		d.Spread = append(d.Spread, spreadTerm(&s.TopologySpreadConstraints[i]))
	}
	d.Ports = hostPorts(s)
	d.Whole, d.Weighed, d.More = requests(s)
	d.Sought = sought(s)
	if s.Resources != nil {
		d.QOS = string(kubedefaults.QOSOf(s))
	}
	if reflect.DeepEqual(d, kube.Demands{}) {
		return nil
	}
	return &d
}

func sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func affinities(d *kube.Demands, in *corev1.Pod) {
	a := in.Spec.Affinity
	if a == nil {
		return
	}
	if n := a.NodeAffinity; n != nil {
		own := kube.NodeAffinity{}
		if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil && pinned(in) == "" {
			own.Required = []kube.NodeTerm{}
			for i := range r.NodeSelectorTerms {
				own.Required = append(own.Required, nodeTerm(&r.NodeSelectorTerms[i], 0))
			}
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			p := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			own.Preferred = append(own.Preferred, nodeTerm(&p.Preference, p.Weight))
		}
		if own.Required != nil || own.Preferred != nil {
			d.NodeAffinity = &own
		}
	}
	if p := a.PodAffinity; p != nil {
		d.Affinity = podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution)
		d.Likes = weightedTerms(p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		d.AntiAffinity = podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution)
		d.Dislikes = weightedTerms(p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func nodeTerm(in *corev1.NodeSelectorTerm, weight int32) kube.NodeTerm {
	return kube.NodeTerm{Labels: nodeRequirements(in.MatchExpressions), Fields: nodeRequirements(in.MatchFields), Weight: int(weight)}
}

func nodeRequirements(in []corev1.NodeSelectorRequirement) (out []kube.Requirement) {
	for i := range in {
		out = append(out, kube.Requirement{Key: in[i].Key, Operator: string(in[i].Operator), Values: in[i].Values})
	}
	return out
}

func podTerms(in []corev1.PodAffinityTerm) (out []kube.PodTerm) {
	for i := range in {
		out = append(out, podTerm(&in[i], 0))
	}
	return out
}

func weightedTerms(in []corev1.WeightedPodAffinityTerm) (out []kube.PodTerm) {
	for i := range in {
		out = append(out, podTerm(&in[i].PodAffinityTerm, in[i].Weight))
	}
	return out
}

func podTerm(in *corev1.PodAffinityTerm, weight int32) kube.PodTerm {
	return kube.PodTerm{
		Selector: SelectorFromAPI(in.LabelSelector), Namespaces: in.Namespaces, NamespaceSelector: SelectorFromAPI(in.NamespaceSelector),
		TopologyKey: in.TopologyKey, MatchLabelKeys: in.MatchLabelKeys, MismatchLabelKeys: in.MismatchLabelKeys, Weight: int(weight),
	}
}

// SelectorFromAPI is a selector of labels, nil where there is none. Its requirements are in the order of their keys.
func SelectorFromAPI(in *metav1.LabelSelector) *kube.Selector {
	if in == nil {
		return nil
	}
	s := &kube.Selector{}
	for _, p := range pairs(in.MatchLabels) {
		s.Requirements = append(s.Requirements, kube.Requirement{Key: p.Key, Operator: "In", Values: []string{p.Value}})
	}
	for i := range in.MatchExpressions {
		e := &in.MatchExpressions[i]
		s.Requirements = append(s.Requirements, kube.Requirement{Key: e.Key, Operator: string(e.Operator), Values: e.Values})
	}
	slices.SortStableFunc(s.Requirements, func(a, b kube.Requirement) int { return strings.Compare(a.Key, b.Key) })
	return s
}

func spreadTerm(in *corev1.TopologySpreadConstraint) kube.SpreadTerm {
	out := kube.SpreadTerm{
		MaxSkew: int(in.MaxSkew), MinDomains: 1, TopologyKey: in.TopologyKey, Hard: in.WhenUnsatisfiable == corev1.DoNotSchedule,
		Selector: SelectorFromAPI(in.LabelSelector), MatchLabelKeys: in.MatchLabelKeys,
	}
	if in.MinDomains != nil {
		out.MinDomains = int(*in.MinDomains)
	}
	out.IgnoresAffinity = in.NodeAffinityPolicy != nil && *in.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore
	out.HonorsTaints = in.NodeTaintsPolicy != nil && *in.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	return out
}

// hostPorts are the ports that a pod takes of its node: those of its containers and sidecars (GetHostPorts of
// pkg/scheduler/util/utils.go).
func hostPorts(s *corev1.PodSpec) (out []kube.HostPort) {
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort <= 0 {
				continue
			}
			one := kube.HostPort{IP: p.HostIP, Protocol: string(p.Protocol), Port: p.HostPort}
			if one.IP == "" {
				one.IP = "0.0.0.0"
			}
			if one.Protocol == "" {
				one.Protocol = string(corev1.ProtocolTCP)
			}
			out = append(out, one)
		}
	}
	for i := range s.Containers {
		add(&s.Containers[i])
	}
	for i := range s.InitContainers {
		if sidecar(&s.InitContainers[i]) {
			add(&s.InitContainers[i])
		}
	}
	return out
}

// requests are what a pod asks for altogether (PodRequests of k8s.io/component-helpers/resource): the sum of its
// containers and sidecars, or what an init container needs beside the sidecars before it, and the overhead. What the pod
// itself asks for counts instead.
//
// A container that asks for no CPU or no memory counts as a little where nodes are compared (NonMissingContainerRequests
// of calculatePodResourceRequest, pkg/scheduler/framework/plugins/noderesources/resource_allocation.go).
func requests(s *corev1.PodSpec) (whole, weighed *kube.Resources, more []kube.Amount) {
	sum := together(s, nil)
	exact := kube.Resources{CPU: sum.Cpu().MilliValue(), Memory: sum.Memory().Value()}
	if len(s.InitContainers) > 0 || len(s.Overhead) > 0 || s.Resources != nil {
		whole = &exact
	}
	least := little
	if s.Resources != nil {
		least = corev1.ResourceList{} // getNonMissingContainerRequests of pkg/scheduler/framework/types.go
		for name, q := range little {
			if _, asked := sum[name]; !asked {
				least[name] = q
			}
		}
	}
	counts := together(s, least)
	usual, own := exact, kube.Resources{CPU: counts.Cpu().MilliValue(), Memory: counts.Memory().Value()}
	if usual.CPU == 0 {
		usual.CPU = little.Cpu().MilliValue()
	}
	if usual.Memory == 0 {
		usual.Memory = little.Memory().Value()
	}
	if own != usual {
		weighed = &own
	}
	for name, q := range sum {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory && !q.IsZero() {
			more = append(more, kube.Amount{Resource: string(name), Value: q.Value()})
		}
	}
	slices.SortFunc(more, func(a, b kube.Amount) int { return strings.Compare(a.Resource, b.Resource) })
	return whole, weighed, more
}

// sought is what a pod that asks for something as a whole counts as while its node is sought: the score NodeResourcesFit
// doesn't know such requests (NewFit of pkg/scheduler/framework/plugins/noderesources/fit.go doesn't tell its scorer of them).
func sought(s *corev1.PodSpec) *kube.Resources {
	if s.Resources == nil {
		return nil
	}
	containers := *s
	containers.Resources = nil
	sum := together(&containers, little)
	return &kube.Resources{CPU: sum.Cpu().MilliValue(), Memory: sum.Memory().Value()}
}

// little is DefaultMilliCPURequest and DefaultMemoryRequest of pkg/scheduler/util/pod_resources.go.
var little = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("200Mi")}

// together adds up what the containers need, each at least what is missing of the least.
func together(s *corev1.PodSpec, least corev1.ResourceList) corev1.ResourceList {
	of := func(c *corev1.Container) corev1.ResourceList {
		own := corev1.ResourceList{}
		plus(own, c.Resources.Requests)
		for name, q := range least {
			if _, asked := own[name]; !asked {
				own[name] = q
			}
		}
		return own
	}
	sum := corev1.ResourceList{}
	for i := range s.Containers {
		plus(sum, of(&s.Containers[i]))
	}
	beside, most := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		need := of(c)
		if sidecar(c) {
			plus(sum, need)
			plus(beside, need)
			need = beside
		} else {
			plus(need, beside)
		}
		atLeast(most, need)
	}
	atLeast(sum, most)
	if s.Resources != nil {
		for name, q := range s.Resources.Requests {
			sum[name] = q
		}
	}
	plus(sum, s.Overhead)
	return sum
}

func plus(to, from corev1.ResourceList) {
	for name, q := range from {
		sum := q.DeepCopy()
		sum.Add(to[name])
		to[name] = sum
	}
}

func atLeast(to, from corev1.ResourceList) {
	for name, q := range from {
		if had, there := to[name]; !there || q.Cmp(had) > 0 {
			to[name] = q
		}
	}
}
