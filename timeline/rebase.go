package timeline

import (
	"errors"
	"fmt"
	"iter"
	"time"
)

// Rebase gives the tape another start: the wall time at which its clock stood
// at 0s. Its events stay as they are. [RebaseObjects] moves the times inside
// of objects as well.
func Rebase(start time.Time) Transform {
	return func(h *Header, events iter.Seq2[Event, error]) (*Header, iter.Seq2[Event, error]) {
		out := *h
		out.Metadata.Start = Time{start.UTC()}
		return &out, events
	}
}

// RebaseObjects is [Rebase], and moves the times of known fields inside of the
// objects (see [MoveTimes]) by as much as the start moves. It wants a tape
// that has a start.
func RebaseObjects(start time.Time) Transform {
	return func(h *Header, events iter.Seq2[Event, error]) (*Header, iter.Seq2[Event, error]) {
		was := h.Metadata.Start
		if was.IsZero() {
			return h, failed(errors.New("rebase the times in objects: the header has no metadata.start: want the wall time of 0s there"))
		}
		offset := start.Sub(was.Time)
		out, _ := Rebase(start)(h, nil)
		return out, edit(events, func(ev Event, yield func(Event, error) bool) bool {
			if !ev.Type.Object() {
				return yield(ev, nil)
			}
			res, _ := h.Lookup(ev.Resource)
			moved, err := MoveTimes(res, ev.Object, func(t time.Time) time.Time { return t.Add(offset) })
			if err != nil {
				yield(Event{}, fmt.Errorf("rebase %s %s: %w", ev.Resource, ev.Name, err))
				return false
			}
			ev.Object, ev.Patch = moved, nil
			return yield(ev, nil)
		})
	}
}
