package convert

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// Observed are the objects of a simulation that are alive, as observers of a roll look at them: what package kubejson
// decodes of their text, and no more. No text is made of them, but of a template's containers and of pods that a client has
// written.
//
// An object that comes out is valid up to the next write, and nobody may change it. The labels and the list of the
// containers of a pod may be kept for longer.
type Observed struct {
	decoder kubejson.Decoder

	nodes   memory[corev1.Node]
	pods    memory[pod]
	budgets memory[policyv1.PodDisruptionBudget]
	events  memory[corev1.Event]
	others  memory[metav1.PartialObjectMetadata]

	eventsNamed map[eventName]*corev1.Event
	sets        map[set]map[string]string
	owners      map[*kube.Owner][]metav1.OwnerReference
	specs       map[*kube.Template]*podSpec
	given       map[*kube.Given]*corev1.ResourceRequirements
}

type eventName struct{ namespace, name string }

// memory is that of objects of one kind, for those to come.
type memory[T any] struct {
	used, free []*T
	last       *T // the one that was deleted last: a caller may look at it until the next write
}

// take returns an object, which is as another one has left it.
func (m *memory[T]) take() *T {
	m.settle()
	n := len(m.free) - 1
	if n < 0 {
		o := new(T)
		m.used = append(m.used, o)
		return o
	}
	o := m.free[n]
	m.free = m.free[:n]
	return o
}

// of returns the object of an event's: the one beside it, or where it comes, which fresh says, another in that place. One that is gone
// is valid up to the next write.
func (m *memory[T]) of(ev *timeline.Event, beside *any) (o *T, fresh bool) {
	o, _ = (*beside).(*T)
	switch {
	case o == nil || ev.Type == timeline.Added:
		o = m.take()
		*beside = o
		return o, true
	case ev.Type == timeline.Deleted:
		m.drop(o)
	}
	return o, false
}

// drop gives back one that is gone.
func (m *memory[T]) drop(o *T) {
	m.settle()
	m.last = o
}

func (m *memory[T]) settle() {
	if m.last != nil {
		m.free, m.last = append(m.free, m.last), nil
	}
}

// clear gives all back.
func (m *memory[T]) clear() { m.free, m.last = append(m.free[:0], m.used...), nil }

// pool keeps the memory of simulations that have ended for the next ones, and what their decoders know: the same images and
// words come again.
var observedPool = sync.Pool{New: func() any {
	return &Observed{
		eventsNamed: map[eventName]*corev1.Event{}, sets: map[set]map[string]string{},
		owners: map[*kube.Owner][]metav1.OwnerReference{}, specs: map[*kube.Template]*podSpec{},
		given: map[*kube.Given]*corev1.ResourceRequirements{},
	}
}}

// NewObserved returns the objects of a simulation that hasn't begun. Release them.
func NewObserved() *Observed { return observedPool.Get().(*Observed) }

// Release lets all objects go. None may be used any more.
func (o *Observed) Release() {
	o.nodes.clear()
	o.pods.clear()
	o.budgets.clear()
	o.events.clear()
	o.others.clear()
	clear(o.eventsNamed)
	clear(o.sets)
	clear(o.owners)
	clear(o.specs)
	clear(o.given)
	observedPool.Put(o)
}

// Take returns the object of a write as it is then; of a deletion, as it was last.
func (o *Observed) Take(ev *timeline.Event, w *kube.Write) metav1.Object {
	switch now := w.Object.(type) {
	case *kube.Node:
		old, _ := w.Old.(*kube.Node)
		return o.node(ev, old, now)
	case *kube.Pod:
		return o.pod(ev, w, now)
	case *kube.Budget:
		old, _ := w.Old.(*kube.Budget)
		return o.budget(ev, old, now)
	case *kube.Custom:
		old, _ := w.Old.(*kube.Custom)
		return o.custom(ev, old, now)
	}
	now, _ := w.Object.(*kube.Event)
	old, _ := w.Old.(*kube.Event)
	return o.event(ev, old, now)
}

// small is a number of 32 bits.
func small(n int) int32 {
	const most = 1<<31 - 1
	return int32(min(max(n, -most), most))
}
