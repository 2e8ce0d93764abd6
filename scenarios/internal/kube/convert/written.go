package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Written takes over whole objects as clients write them to a simulated cluster. What is the same as before stays the
// very same, down to the part of a second that no API shows.
type Written struct {
	Clock     Clock
	Templates Templates
	// Owner returns the Owner that controllers know their pods by, nil where the UID is none of theirs.
	Owner func(uid string) *kube.Owner
}

// Node makes a node what a client has written.
func (w *Written) Node(n *kube.Node, in *corev1.Node) {
	old := *n
	n.Owner, n.ProviderID = nil, ""
	NodeOfEarlierRun(n, in, w.Clock)
	n.Phase = string(in.Status.Phase)
	w.meta(&old.Meta, &n.Meta, &in.ObjectMeta)
	n.Conditions = same(old.Conditions, n.Conditions, sameCondition)
	n.Taints = same(old.Taints, n.Taints, func(a, b kube.Taint) bool {
		a.Added = a.Added.Second()
		return a == b
	})
	n.Addresses = same(old.Addresses, n.Addresses, equal)
	n.Capacity, n.Allocatable = same(old.Capacity, n.Capacity, equal), same(old.Allocatable, n.Allocatable, equal)
	n.Images = same(old.Images, n.Images, func(a, b kube.Image) bool { return a.Bytes == b.Bytes && slices.Equal(a.Names, b.Names) })
	n.Handlers = same(old.Handlers, n.Handlers, equal)
	n.Attached, n.InUse = same(old.Attached, n.Attached, equal), same(old.InUse, n.InUse, equal)
}

// Pod makes a pod what a client has written.
func (w *Written) Pod(p *kube.Pod, in *corev1.Pod) {
	old := *p
	p.Owner, p.Claim, p.Started = nil, "", 0
	w.Templates.PodFromAPI(p, in, w.Clock, true)
	w.meta(&old.Meta, &p.Meta, &in.ObjectMeta)
	for i := range in.Status.Conditions {
		p.Conditions[i].Heartbeat = w.Clock.instant(in.Status.Conditions[i].LastProbeTime)
	}
	if old.Template != nil {
		p.Template = ofSame(old.Template, p.Template)
	}
	p.Conditions = same(old.Conditions, p.Conditions, sameCondition)
	p.Containers = same(old.Containers, p.Containers, sameContainer)
	p.Init = same(old.Init, p.Init, sameContainer)
	p.Started = sameSecond(old.Started, p.Started)
}

// Budget makes a budget what a client has written.
func (w *Written) Budget(b *kube.Budget, in *policyv1.PodDisruptionBudget) {
	old := *b
	b.Owner = nil
	BudgetFromAPI(b, in, w.Clock)
	w.meta(&old.Meta, &b.Meta, &in.ObjectMeta)
	b.Selector = same(old.Selector, b.Selector, equal)
	b.DisruptedPods = nil
	for _, pod := range slices.Sorted(maps.Keys(in.Status.DisruptedPods)) {
		b.DisruptedPods = append(b.DisruptedPods, kube.Disrupted{Pod: pod, At: w.Clock.instant(in.Status.DisruptedPods[pod])})
	}
	b.DisruptedPods = same(old.DisruptedPods, b.DisruptedPods, equal)
	b.Conditions = w.conditions(in.Status.Conditions)
	b.Conditions = same(old.Conditions, b.Conditions, sameCondition)
}

func (w *Written) conditions(in []metav1.Condition) (out kube.Conditions) {
	for i := range in {
		c := &in[i]
		out = append(out, kube.Condition{
			Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message,
			Transition: w.Clock.instant(c.LastTransitionTime), Observed: c.ObservedGeneration,
		})
	}
	return out
}

// Custom makes an object of the provider's own kind what a client has written.
func (w *Written) Custom(c *kube.Custom, r timeline.Resource, object []byte) error {
	var in struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Status   struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(object, &in); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	old := *c
	c.Owner = nil
	c.Resource, c.Namespace, c.Name = r, in.Metadata.Namespace, in.Metadata.Name
	w.Clock.meta(&c.Meta, &in.Metadata)
	w.meta(&old.Meta, &c.Meta, &in.Metadata)
	c.Spec = string(rawjson.Get(object, "spec"))
	c.Status = nil
	for name, value := range rawjson.Members(rawjson.Get(object, "status")) {
		if string(name) != "conditions" {
			c.Status = append(c.Status, kube.Field{Name: string(name), JSON: string(value)})
		}
	}
	c.Conditions = same(old.Conditions, w.conditions(in.Status.Conditions), sameCondition)
	return nil
}

// meta keeps of an object's metadata what is the same as before.
func (w *Written) meta(old, m *kube.Meta, in *metav1.ObjectMeta) {
	m.Generation = in.Generation
	if in.DeletionTimestamp != nil {
		m.Deleting = sameSecond(old.Deleting, w.Clock.instant(*in.DeletionTimestamp))
	}
	m.Labels, m.Annotations = same(old.Labels, m.Labels, equal), same(old.Annotations, m.Annotations, equal)
	m.Finalizers = same(old.Finalizers, m.Finalizers, equal)
	if m.Owner == nil {
		return
	}
	if old.Owner != nil && *old.Owner == *m.Owner {
		m.Owner = old.Owner
	} else if w.Owner != nil {
		if known := w.Owner(m.Owner.UID); known != nil {
			m.Owner = known
		}
	}
}

// same returns the old list where the new one is like it.
func same[L ~[]T, T any](old, now L, like func(old, now T) bool) L {
	if slices.EqualFunc(old, now, like) {
		return old
	}
	return now
}

func equal[T comparable](a, b T) bool { return a == b }

// sameSecond returns the old moment where the new one is its second.
func sameSecond(old, now kube.Instant) kube.Instant {
	if old.Second() == now {
		return old
	}
	return now
}

func sameCondition(old, now kube.Condition) bool {
	old.Heartbeat, old.Transition = old.Heartbeat.Second(), old.Transition.Second()
	return old == now
}

func sameContainer(old, now kube.Container) bool {
	given := old.Given == now.Given || old.Given != nil && now.Given != nil && *old.Given == *now.Given
	old.State, old.Last, old.Given, now.Given = wholeSeconds(old.State), wholeSeconds(old.Last), nil, nil
	return given && old == now
}

func wholeSeconds(s kube.ContainerState) kube.ContainerState {
	s.StartedAt, s.Finished = s.StartedAt.Second(), s.Finished.Second()
	return s
}

// ofSame returns the template that a pod has after a write: the old one where nothing of it has changed, a variant of
// it where its containers have, and else the new one, with what no API shows.
func ofSame(old, now *kube.Template) *kube.Template {
	containers := slices.Equal(old.Containers, now.Containers)
	rest := sameDemands(old, now) && old.GenerateName == now.GenerateName && old.GraceSeconds == now.GraceSeconds && slices.Equal(old.NodeSelector, now.NodeSelector) &&
		slices.Equal(old.Tolerations, now.Tolerations) && old.Priority == now.Priority && old.PriorityClass == now.PriorityClass &&
		old.SchedulerName == now.SchedulerName && old.RestartPolicy == now.RestartPolicy && old.HostNetwork == now.HostNetwork && old.Volume == now.Volume &&
		slices.EqualFunc(old.Spread, now.Spread, func(a, b kube.Spread) bool {
			return a.MaxSkew == b.MaxSkew && a.TopologyKey == b.TopologyKey && a.WhenUnsatisfiable == b.WhenUnsatisfiable && slices.Equal(a.Selector, b.Selector)
		})
	switch {
	case rest && containers:
		return old
	case rest && len(old.Containers) == len(now.Containers):
		next := old.Variant(func(*kube.ContainerSpec) {})
		next.Containers = now.Containers
		return next
	}
	next := *now
	next.Workload, next.Resizable = old.Workload, old.Resizable
	return &next
}

// sameDemands reports whether two templates demand the same. That of a scenario's pods demands nothing: what they say of
// how they are spread stands in Spread alone, and all their containers together count as a little.
func sameDemands(old, now *kube.Template) bool {
	if old.Demands == nil && now.Demands != nil {
		bare := *now.Demands
		bare.Spread, bare.Weighed = nil, nil
		return reflect.DeepEqual(bare, kube.Demands{})
	}
	return reflect.DeepEqual(old.Demands, now.Demands)
}
