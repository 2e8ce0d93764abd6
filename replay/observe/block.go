package observe

import "github.com/nodesim/nodesim/timeline"

// block gathers what is between a GAP and its SYNC. Of each object it
// keeps what counts in the end, so that it holds no more than there are
// objects, however long the block is.
type block struct {
	order []objectName
	of    map[objectName]*held
}

type objectName struct{ namespace, name string }

// held holds what a block says of one name: that an object is gone, that there is
// one, or both, of which the first is another.
type held struct {
	gone, set *timeline.Event
}

func (b *block) put(ev timeline.Event) {
	id := objectName{ev.Namespace, ev.Name}
	h := b.of[id]
	if h == nil {
		if b.of == nil {
			b.of = map[objectName]*held{}
		}
		h = &held{}
		b.of[id] = h
		b.order = append(b.order, id)
	}
	if ev.Type == timeline.Deleted {
		h.gone, h.set = &ev, nil
	} else {
		ev.Patch = nil // from a state that no watch saw
		h.set = &ev
	}
}

// events calls yield for what is held, by first appearance.
func (b *block) events(yield func(*timeline.Event) bool) {
	for _, id := range b.order {
		h := b.of[id]
		if h.gone != nil && !yield(h.gone) || h.set != nil && !yield(h.set) {
			return
		}
	}
}
