package kube

import "github.com/nodesim/nodesim/timeline"

// A Write is one of an object, for who looks at the object rather than at its text. What it points to is valid during
// the call only.
type Write struct {
	Change Change
	// Meta is nil for an event that expires.
	Meta *Meta
	// Object is the *Node, *Pod, *Budget, *Event or *Custom as it is now; of a deletion, as it was last. It is nil for an
	// event that expires and for a [Document].
	Object any
	// Old is the object before; nil where there was none.
	Old any

	store *Store
	whole func() []byte // where it isn't what writer makes of the object
}

// Text is what a tape says of the object: all of it where it was added, and else what has changed.
func (w *Write) Text() []byte {
	switch {
	case w.Change == Deleted:
		return nil
	case w.whole != nil && w.Change == Added:
		return w.whole()
	}
	switch now := w.Object.(type) {
	case *Node:
		return textOf(w, (*writer).node, now)
	case *Pod:
		return textOf(w, (*writer).pod, now)
	case *Budget:
		return textOf(w, (*writer).budget, now)
	case *Event:
		return textOf(w, (*writer).event, now)
	case *Custom:
		return textOf(w, (*writer).custom, now)
	}
	return nil
}

func textOf[T any](w *Write, write func(*writer, *T, *T), now *T) []byte {
	old, _ := w.Old.(*T)
	if old == nil {
		return whole(w.store, write, now)()
	}
	return differ(w.store, write, old, now)
}

// Observe has f take the events of objects, in place of the sink. Without text none is made: the events have neither
// Object nor Patch. What else a tape says still goes to the sink.
func (s *Store) Observe(text bool, f func(*timeline.Event, *Write) error) {
	s.observe, s.textless = f, !text
}
