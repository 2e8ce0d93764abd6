package kube

import "slices"

// table keeps objects in the order in which they were created, and finds them
// by name.
type table[T any] struct {
	all    []*T
	byName map[key]*T
}

func (t *table[T]) put(k key, o *T) {
	if t.byName == nil {
		t.byName = map[key]*T{}
	}
	t.byName[k] = o
	t.all = append(t.all, o)
}

func (t *table[T]) drop(k key) {
	o := t.byName[k]
	delete(t.byName, k)
	if i := slices.Index(t.all, o); i >= 0 {
		// A copy, since a caller may be iterating over the old one.
		t.all = slices.Delete(slices.Clone(t.all), i, i+1)
	}
}

// podList is a set of pods in an order that the writes alone decide. Each pod keeps its place in it, so that no
// search is needed.
type podList struct {
	of   listKind
	pods []*Pod
}

// listKind is one of the lists that a pod is in.
type listKind int

const (
	amongAll listKind = iota
	amongOwned
	amongBound
	listKinds
)

func (l *podList) add(p *Pod) {
	p.places[l.of] = int32(len(l.pods))
	l.pods = append(l.pods, p)
}

// remove puts the last pod into the gap. A pod that isn't in the list stays away.
func (l *podList) remove(p *Pod) {
	i := int(p.places[l.of])
	if i >= len(l.pods) || l.pods[i] != p {
		return
	}
	last := len(l.pods) - 1
	l.pods[i] = l.pods[last]
	l.pods[i].places[l.of] = int32(i)
	l.pods[last] = nil
	l.pods = l.pods[:last]
}
