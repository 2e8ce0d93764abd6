package scheduler

import "github.com/nodesim/nodesim/scenarios/internal/component"

// roomTree finds, among numbered places, those with enough room: a tree whose
// inner nodes hold the most of each resource that any place below them has. So
// a thousand full nodes in a row cost no more than one.
type roomTree struct {
	size int              // places, a power of two
	most []component.Room // [1] is the root, [size+i] place i
}

// nothing is the room of a place where no node is.
var nothing = component.Room{CPU: -1, Memory: -1, Pods: -1}

// grow makes sure that there is a place of this number.
func (t *roomTree) grow(place int) {
	if place < t.size {
		return
	}
	old := *t
	t.size = max(8, old.size)
	for t.size <= place {
		t.size *= 2
	}
	t.most = make([]component.Room, 2*t.size)
	for i := range t.most {
		t.most[i] = nothing
	}
	for i := range old.size {
		t.set(i, old.most[old.size+i])
	}
}

// places is the room of each place.
func (t *roomTree) places() []component.Room { return t.most[t.size:] }

func (t *roomTree) at(place int) component.Room { return t.most[t.size+place] }

func (t *roomTree) set(place int, r component.Room) {
	i := t.size + place
	t.most[i] = r
	for i /= 2; i > 0; i /= 2 {
		a, b := &t.most[2*i], &t.most[2*i+1]
		most := component.Room{CPU: max(a.CPU, b.CPU), Memory: max(a.Memory, b.Memory), Pods: max(a.Pods, b.Pods)}
		if t.most[i] == most {
			return
		}
		t.most[i] = most
	}
}

// next returns the first place from one on that has the room, or -1.
func (t *roomTree) next(from int, need component.Room) int {
	if from >= t.size {
		return -1
	}
	if t.at(from).Holds(need) {
		return from
	}
	return t.search(1, 0, t.size, from, need)
}

// search looks through the places from lo up to hi, which lie below i.
func (t *roomTree) search(i, lo, hi, from int, need component.Room) int {
	if hi <= from || !t.most[i].Holds(need) {
		return -1
	}
	if hi-lo == 1 {
		return lo
	}
	mid := (lo + hi) / 2
	if found := t.search(2*i, lo, mid, from, need); found >= 0 {
		return found
	}
	return t.search(2*i+1, mid, hi, from, need)
}
