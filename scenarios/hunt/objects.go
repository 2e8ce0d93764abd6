package hunt

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// objects are those of a simulation that are alive, as invariants look at them. A simulation makes patches; they are decoded into
// the objects themselves, so that no tape is written, and no object is put together, encoded or decoded whole.
type objects struct {
	decoder kubejson.Decoder
	words   map[string]string // the checker's words for the tape's

	nodes   held[string, corev1.Node]
	pods    held[name, corev1.Pod]
	budgets held[name, budget]
	events  held[name, corev1.Event]
	others  held[other, metav1.PartialObjectMetadata]
}

// held are objects of one kind, and the memory of those that are gone.
type held[K comparable, T any] struct {
	all  map[K]*T
	last *T // the one that was deleted last: a caller may look at it until the next event
	free []*T
}

// take finds an object, or begins to hold one. One that is gone is held for the last time.
func (h *held[K, T]) take(key K, gone bool) *T {
	if h.last != nil {
		h.free, h.last = append(h.free, h.last), nil
	}
	o := h.all[key]
	if o == nil {
		if n := len(h.free) - 1; n >= 0 {
			o, h.free = h.free[n], h.free[:n] // as it was: the first event of an object has all of it
		} else {
			o = new(T)
		}
		if h.all == nil {
			h.all = map[K]*T{}
		}
		h.all[key] = o
	}
	if gone {
		delete(h.all, key)
		h.last = o
	}
	return o
}

// clear lets all go.
func (h *held[K, T]) clear() {
	for _, o := range h.all {
		h.free = append(h.free, o)
	}
	clear(h.all)
}

type name struct{ namespace, name string }

type other struct {
	resource string
	name
}

// budget is one with its text: patches of its maps need what they are put over.
type budget struct {
	policyv1.PodDisruptionBudget
	text []byte
}

// pool keeps the memory of simulations that have ended for the next ones, and what their decoders know: the same labels, images and
// words come again.
var pool = sync.Pool{New: func() any { return &objects{words: map[string]string{}} }}

// newObjects are those of a simulation that hasn't begun. Release them.
func newObjects(h *timeline.Header) *objects {
	o := pool.Get().(*objects)
	for _, r := range h.Resources {
		word := "other/" + h.Key(r)
		switch r.Group + "/" + r.Resource {
		case "/nodes":
			word = noderoll.Nodes
		case "/pods":
			word = noderoll.Pods
		case "policy/poddisruptionbudgets":
			word = noderoll.Budgets
		case "/events":
			word = noderoll.Events
		}
		o.words[h.Key(r)] = word
	}
	return o
}

// release lets all objects go. None may be used any more.
func (o *objects) release() {
	o.nodes.clear()
	o.pods.clear()
	o.budgets.clear()
	o.events.clear()
	o.others.clear()
	clear(o.words)
	pool.Put(o)
}

// resource is the checker's word for a resource.
func (o *objects) resource(word string) string { return o.words[word] }

// take applies an event of a simulation, and returns the object as it is then. A deleted one is no longer held.
func (o *objects) take(ev *timeline.Event) metav1.Object {
	key := name{ev.Namespace, ev.Name}
	gone := ev.Type == timeline.Deleted
	switch o.words[ev.Resource] {
	case noderoll.Nodes:
		n := o.nodes.take(ev.Name, gone)
		if ev.Object != nil {
			*n = corev1.Node{
				ObjectMeta: identity(&n.ObjectMeta), Spec: corev1.NodeSpec{Taints: n.Spec.Taints[:0]},
				Status: corev1.NodeStatus{Conditions: n.Status.Conditions[:0]},
			}
		}
		o.patch(ev, &n.ObjectMeta, func(raw []byte) { o.decoder.Node(n, raw) })
		return n
	case noderoll.Pods:
		p := o.pods.take(key, gone)
		if ev.Object != nil {
			*p = corev1.Pod{
				ObjectMeta: identity(&p.ObjectMeta),
				Status:     corev1.PodStatus{Conditions: p.Status.Conditions[:0], ContainerStatuses: p.Status.ContainerStatuses[:0]},
			}
		}
		o.patch(ev, &p.ObjectMeta, func(raw []byte) { o.decoder.Pod(p, raw) })
		return p
	case noderoll.Budgets:
		b := o.budgets.take(key, gone)
		switch {
		case ev.Object != nil:
			b.text = append(b.text[:0], ev.Object...)
		case ev.Patch != nil:
			b.text = rawjson.Apply(nil, b.text, ev.Patch)
		}
		b.PodDisruptionBudget = policyv1.PodDisruptionBudget{ObjectMeta: identity(&b.ObjectMeta)}
		o.decoder.Budget(&b.PodDisruptionBudget, b.text)
		identify(ev, &b.ObjectMeta)
		return &b.PodDisruptionBudget
	case noderoll.Events:
		e := o.events.take(key, gone)
		if ev.Object != nil {
			*e = corev1.Event{ObjectMeta: identity(&e.ObjectMeta)}
		}
		o.patch(ev, &e.ObjectMeta, func(raw []byte) { o.decoder.Event(e, raw) })
		return e
	}
	m := o.others.take(other{ev.Resource, key}, gone)
	if ev.Object != nil {
		m.ObjectMeta = identity(&m.ObjectMeta)
	}
	o.patch(ev, &m.ObjectMeta, func(raw []byte) { o.decoder.Meta(&m.ObjectMeta, raw) })
	return m
}

// patch decodes what an event says into an object. Labels and annotations of a patch are put over those that there are.
func (o *objects) patch(ev *timeline.Event, m *metav1.ObjectMeta, decode func(raw []byte)) {
	raw := ev.Object
	if raw == nil {
		raw = ev.Patch
	}
	if raw != nil {
		labels, annotations := m.Labels, m.Annotations
		decode(raw)
		if ev.Object == nil {
			if o.decoder.Labels != nil {
				m.Labels = o.decoder.Merge(labels, o.decoder.Labels)
			}
			if o.decoder.Annotations != nil {
				m.Annotations = o.decoder.Merge(annotations, o.decoder.Annotations)
			}
		}
	}
	identify(ev, m)
}

// identity is what an object keeps whose text comes whole once more.
func identity(m *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, UID: m.UID}
}

// identify gives an object what an event has beside it: the uid with the first one alone.
func identify(ev *timeline.Event, m *metav1.ObjectMeta) {
	m.Name, m.Namespace, m.ResourceVersion = ev.Name, ev.Namespace, ev.RV
	if ev.UID != "" {
		m.UID = types.UID(ev.UID)
	}
}
