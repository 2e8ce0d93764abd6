package timeline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Continue begins the tape of next with the state that w has reached: the living objects as ADDED at 0s, by resource,
// namespace and name, then the given events, which are of no object, such as the SYNC of each resource. All of it is on the
// disk when Continue returns. From then on next keeps the objects, without a copy of them, and w takes nothing but
// events without an object, such as its END.
//
// Next must have no event yet, and the resources of w. An error leaves w as it was; next is then good for nothing.
func (w *Writer) Continue(next *Writer, events ...Event) error {
	switch {
	case w.failed != nil:
		return w.failed
	case w.alive == nil || w.ended:
		return fmt.Errorf("continue timeline %s: it has ended", w.header.Metadata.Name)
	case next.events > 0 || next.resumed:
		return fmt.Errorf("continue timeline %s: found %s in the next one, want none yet", w.header.Metadata.Name, plural(next.events))
	}
	for _, key := range slices.Sorted(maps.Keys(w.alive.m)) {
		o := w.alive.m[key]
		ev := Event{Type: Added, Resource: o.resource, Namespace: o.namespace, Name: o.name, UID: o.uid, RV: o.rv}
		if _, ok := next.header.Lookup(ev.Resource); !ok {
			return next.refuse(&ev, errUnlisted)
		}
		next.line = appendLine(next.line[:0], &ev, ev.UID, w.alive.state(o), nil)
		if err := next.put(); err != nil {
			return err
		}
	}
	for _, ev := range events {
		if err := next.Write(ev); err != nil {
			return err
		}
	}
	if err := next.Sync(); err != nil {
		return err
	}
	for _, o := range w.alive.m {
		o.patches = 0
	}
	next.alive, w.alive = w.alive, nil
	return nil
}

// put writes w.line, which is a whole event at 0s.
func (w *Writer) put() error {
	if err := w.fits(); err != nil {
		return err
	}
	if err := w.out.line(w.line); err != nil {
		return w.fail(err)
	}
	w.events++
	return nil
}

var errContinued = errors.New("an object, where another tape continues this one: want it there")
