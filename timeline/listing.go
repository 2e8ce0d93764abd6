package timeline

import (
	"cmp"
	"slices"
)

// listing holds back what is between a GAP and its SYNC. However often an
// object comes up in there, it has one net change, so that memory grows with
// the objects and not with the events.
type listing struct {
	changes map[objectName]*netChange
	n       int
}

// netChange holds what has become of one object: the one that was alive before
// is gone, there is a new or a changed one, or both.
type netChange struct {
	gone, now     Event // Type is empty where there is none
	goneAt, nowAt int   // their order
}

func newListing() *listing { return &listing{changes: map[objectName]*netChange{}} }

func (l *listing) put(ev Event) {
	id := objectName{ev.Namespace, ev.Name}
	c := l.changes[id]
	if c == nil {
		c = new(netChange)
		l.changes[id] = c
	}
	l.n++
	switch {
	case ev.Type == Deleted:
		if c.now.Type != Added { // the one from before
			c.gone, c.goneAt = ev, l.n
		}
		c.now = Event{}
		if c.gone.Type == "" {
			delete(l.changes, id)
		}
	case c.now.Type != "":
		ev.Type, ev.Patch = c.now.Type, nil
		c.now, c.nowAt = ev, l.n
	default:
		c.now, c.nowAt = ev, l.n
	}
}

// events returns the net changes in the order of their last events.
func (l *listing) events() []Event {
	type placed struct {
		n  int
		ev Event
	}
	var all []placed
	for _, c := range l.changes {
		if c.gone.Type != "" {
			all = append(all, placed{c.goneAt, c.gone})
		}
		if c.now.Type != "" {
			all = append(all, placed{c.nowAt, c.now})
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Compare(a.n, b.n) })
	out := make([]Event, len(all))
	for i, p := range all {
		out[i] = p.ev
	}
	return out
}
