package api

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
		// A copy, since somebody may be walking along the old one.
		t.all = slices.Delete(slices.Clone(t.all), i, i+1)
	}
}

// podList is a set of pods in an order that the writes alone decide.
type podList struct {
	pods []*Pod
	at   map[*Pod]int // of long lists only
}

// long is where a list begins to look pods up instead of searching for them.
const long = 32

func (l *podList) add(p *Pod) {
	l.pods = append(l.pods, p)
	if l.at != nil {
		l.at[p] = len(l.pods) - 1
	} else if len(l.pods) > long {
		l.at = make(map[*Pod]int, 2*len(l.pods))
		for i, q := range l.pods {
			l.at[q] = i
		}
	}
}

// remove puts the last pod into the gap.
func (l *podList) remove(p *Pod) {
	i := -1
	if l.at != nil {
		if at, ok := l.at[p]; ok {
			i = at
		}
	} else {
		i = slices.Index(l.pods, p)
	}
	if i < 0 {
		return
	}
	last := len(l.pods) - 1
	l.pods[i] = l.pods[last]
	l.pods[last] = nil
	l.pods = l.pods[:last]
	if l.at != nil {
		delete(l.at, p)
		if i < last {
			l.at[l.pods[i]] = i
		}
	}
}

// orderedPods is all pods in the order of their creation, with holes.
type orderedPods struct{ list podList }
