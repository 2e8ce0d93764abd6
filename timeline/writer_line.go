package timeline

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// WriteLine appends an event as it is to be on its line: with Object, whole
// and without the identity that is beside it, or with Patch, or, of a
// DELETED, with neither. It is the counterpart of reading with [Lines], for who
// keeps the objects and knows what has changed, such as a simulation, and costs
// a tenth of Write.
//
// The Writer then looks at neither objects nor patches. That they are canonical
// JSON, that a patch is exact and makes the object of its last state, that
// objects are in full at least at every hundredth event, and that only what
// was ADDED is changed, is up to the caller; a Reader refuses the tape where it
// isn't. Write and WriteLine don't mix on one tape but for events without an
// object.
func (w *Writer) WriteLine(ev Event) error {
	if !ev.Type.Object() {
		return w.Write(ev)
	}
	if w.failed != nil {
		return w.failed
	}
	switch {
	case w.ended:
		return w.refuse(&ev, errors.New("after END: append to the tape instead"))
	case ev.At < w.last.At:
		return w.refuse(&ev, fmt.Errorf("at %s: want at least %s, the time of the event before", FormatAt(ev.At), FormatAt(w.last.At)))
	case ev.At > maxAt:
		return w.refuse(&ev, fmt.Errorf("at %s: want at most %s", FormatAt(ev.At), FormatAt(maxAt)))
	case ev.Name == "":
		return w.refuse(&ev, errors.New("no name"))
	case ev.Object != nil && ev.Patch != nil:
		return w.refuse(&ev, errors.New("an object and a patch: want one of them"))
	case ev.Object == nil && (ev.Type == Added || ev.Type == Modified && ev.Patch == nil):
		return w.refuse(&ev, fmt.Errorf("%s of %s %s without its object", ev.Type, ev.Resource, ev.Name))
	}
	if _, ok := w.resources[ev.Resource]; !ok {
		res, ok := w.header.Lookup(ev.Resource)
		if !ok {
			return w.refuse(&ev, errUnlisted)
		}
		w.resources[ev.Resource] = res
	}
	w.line = appendLine(w.line[:0], &ev, ev.UID, ev.Object, ev.Patch)
	if err := w.fits(); err != nil {
		return w.refuse(&ev, err)
	}
	if err := w.out.line(w.line); err != nil {
		return w.fail(err)
	}
	w.events++
	w.last.At = ev.At
	return nil
}

// Ending returns the line END with which the tape would end now, at a position, without
// writing it: for a copy of a tape that goes on.
func (w *Writer) Ending(at time.Duration, reason string) ([]byte, error) {
	ev := Event{At: max(at, w.last.At), Type: End, Reason: reason}
	if err := w.check(&ev); err != nil {
		return nil, w.refuse(&ev, err)
	}
	if err := w.plain(&ev); err != nil {
		return nil, w.refuse(&ev, err)
	}
	return bytes.Clone(w.line), nil
}
