package kube

// table keeps objects in the order in which they were created, and finds them
// by name.
type table[T any] struct {
	all     []*T // and those that were dropped since the last list
	byName  map[key]*T
	dropped map[*T]bool
}

func (t *table[T]) put(k key, o *T) {
	if t.byName == nil {
		t.byName = map[key]*T{}
	}
	if t.dropped[o] {
		t.sweep()
	}
	t.byName[k] = o
	t.all = append(t.all, o)
}

func (t *table[T]) drop(k key) {
	o := t.byName[k]
	if o == nil {
		return
	}
	delete(t.byName, k)
	if t.dropped == nil {
		t.dropped = map[*T]bool{}
	}
	if t.dropped[o] = true; len(t.dropped) > len(t.byName)+64 {
		t.sweep()
	}
}

// list returns the objects. The slice stays as it is when some come and go.
func (t *table[T]) list() []*T {
	if len(t.dropped) > 0 {
		t.sweep()
	}
	return t.all
}

// sweep forgets what was dropped.
func (t *table[T]) sweep() {
	// A copy, since a caller may be iterating over the old one.
	rest := make([]*T, 0, len(t.byName)+len(t.byName)/8)
	for _, o := range t.all {
		if !t.dropped[o] {
			rest = append(rest, o)
		}
	}
	t.all = rest
	clear(t.dropped)
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
