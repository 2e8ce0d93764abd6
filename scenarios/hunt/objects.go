package hunt

import (
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

	nodes   map[string]*corev1.Node
	pods    map[name]*corev1.Pod
	budgets map[name]*budget
	events  map[name]*corev1.Event
	others  map[other]*metav1.PartialObjectMetadata
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

func newObjects(h *timeline.Header) *objects {
	o := &objects{
		words: map[string]string{}, nodes: map[string]*corev1.Node{}, pods: map[name]*corev1.Pod{}, budgets: map[name]*budget{},
		events: map[name]*corev1.Event{}, others: map[other]*metav1.PartialObjectMetadata{},
	}
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

// resource is the checker's word for a resource.
func (o *objects) resource(word string) string { return o.words[word] }

// take applies an event of a simulation, and returns the object as it is then. A deleted one is no longer held.
func (o *objects) take(ev *timeline.Event) metav1.Object {
	key := name{ev.Namespace, ev.Name}
	gone := ev.Type == timeline.Deleted
	switch o.words[ev.Resource] {
	case noderoll.Nodes:
		n := hold(o.nodes, ev.Name, gone)
		if ev.Object != nil {
			*n = corev1.Node{ObjectMeta: identity(&n.ObjectMeta)}
		}
		o.patch(ev, &n.ObjectMeta, func(raw []byte) { o.decoder.Node(n, raw) })
		return n
	case noderoll.Pods:
		p := hold(o.pods, key, gone)
		if ev.Object != nil {
			*p = corev1.Pod{ObjectMeta: identity(&p.ObjectMeta)}
		}
		o.patch(ev, &p.ObjectMeta, func(raw []byte) { o.decoder.Pod(p, raw) })
		return p
	case noderoll.Budgets:
		b := hold(o.budgets, key, gone)
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
		e := hold(o.events, key, gone)
		if ev.Object != nil {
			*e = corev1.Event{ObjectMeta: identity(&e.ObjectMeta)}
		}
		o.patch(ev, &e.ObjectMeta, func(raw []byte) { o.decoder.Event(e, raw) })
		return e
	}
	m := hold(o.others, other{ev.Resource, key}, gone)
	if ev.Object != nil {
		m.ObjectMeta = identity(&m.ObjectMeta)
	}
	o.patch(ev, &m.ObjectMeta, func(raw []byte) { o.decoder.Meta(&m.ObjectMeta, raw) })
	return m
}

// hold finds an object, or begins to hold one. One that is gone is held for the last time.
func hold[K comparable, T any](all map[K]*T, key K, gone bool) *T {
	o := all[key]
	if o == nil {
		o = new(T)
		all[key] = o
	}
	if gone {
		delete(all, key)
	}
	return o
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
