package timeline

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Window cuts a piece out of a tape: the events from the position from to the
// position to, both included ([ToEnd] for all that follow). The new tape's
// clock is 0s at from, and so is its start in the header.
//
// It begins with the state right before from: the living objects of each
// resource as ADDED, by namespace and name, and a SYNC at the version that the
// resource had reached. Versions stay. Where the window ends before the tape
// does, it ends with an END at to; the END of the tape itself is kept.
//
// A window shows listings as a whole or not at all. What was found by listing
// again follows its GAP only with the SYNC that makes it count; where
// that is outside, the GAP is alone. Where from is inside, the window
// starts with the state before the GAP, then the GAP and all of the listing
// up to then at 0s. Several events of one object inside of a listing, which is
// one state, may become one.
func Window(from, to time.Duration) Transform {
	return func(h *Header, events iter.Seq2[Event, error]) (*Header, iter.Seq2[Event, error]) {
		if from < 0 || to < from {
			return h, failed(fmt.Errorf("window from %s to %s: want a beginning of 0s or later and an end after it", FormatAt(from), FormatAt(to)))
		}
		cut := *h
		if !cut.Metadata.Start.IsZero() {
			cut.Metadata.Start = Time{cut.Metadata.Start.Add(from)}
		}
		return &cut, recount(func(yield func(Event, error) bool) {
			w := window{from: from, yield: yield, tracks: map[string]*track{}}
			w.run(events, to)
		})
	}
}

// window is one run over a tape.
type window struct {
	from    time.Duration
	yield   func(Event, error) bool
	started bool
	stopped bool          // the consumer wants no more
	last    time.Duration // of the event emitted last, on the old clock

	tracks map[string]*track
	order  []*track // as they appear on the tape
}

// track holds what the window knows of one resource.
type track struct {
	resource string
	alive    map[objectName]Event // until the window starts
	version  string               // reached, "" before the first list
	gap      Event                // the last, while listing isn't nil
	listing  *listing             // between a GAP and its SYNC
}

type objectName struct{ namespace, name string }

func (w *window) run(events iter.Seq2[Event, error], to time.Duration) {
	var end *Event
	for ev, err := range events {
		switch {
		case err != nil:
			w.yield(Event{}, err)
			return
		case ev.At < w.from:
			if ev.Type == End {
				end = &ev
			}
			w.before(ev)
			continue
		}
		w.start()
		if ev.At > to {
			w.emit(Event{At: to, Type: End})
			return
		}
		if w.inside(ev); w.stopped {
			return
		}
	}
	w.start()
	if end != nil {
		w.emit(*end)
	}
}

func (w *window) track(resource string) *track {
	t := w.tracks[resource]
	if t == nil {
		t = &track{resource: resource, alive: map[objectName]Event{}}
		w.tracks[resource] = t
		w.order = append(w.order, t)
	}
	return t
}

// before takes an event that comes too early to be shown.
func (w *window) before(ev Event) {
	switch {
	case ev.Type.Object():
		t := w.track(ev.Resource)
		if t.listing != nil {
			t.listing.put(ev)
			return
		}
		t.apply(ev)
	case ev.Type == Gap:
		t := w.track(ev.Resource)
		t.gap = ev
		if t.listing == nil {
			t.listing = newListing()
		}
	case ev.Type == Sync:
		t := w.track(ev.Resource)
		for _, found := range t.close() {
			t.apply(found)
		}
		t.version = newer(t.version, ev.RV)
	}
}

func (t *track) apply(ev Event) {
	t.version = newer(t.version, ev.RV)
	id := objectName{ev.Namespace, ev.Name}
	if ev.Type == Deleted {
		delete(t.alive, id)
		return
	}
	ev.Patch = nil // part of a whole line
	t.alive[id] = ev
}

// close ends a listing and returns what it has found.
func (t *track) close() []Event {
	if t.listing == nil {
		return nil
	}
	found := t.listing.events()
	t.listing = nil
	return found
}

// start emits the state at the beginning, once.
func (w *window) start() {
	if w.started {
		return
	}
	w.started, w.last = true, w.from
	for _, t := range w.order {
		objects := make([]Event, 0, len(t.alive))
		for _, ev := range t.alive {
			objects = append(objects, ev)
		}
		t.alive = nil
		slices.SortFunc(objects, func(a, b Event) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
		for _, ev := range objects {
			ev.Type, ev.Patch, ev.Extra, ev.Reason = Added, nil, nil, ""
			w.emit(ev)
		}
		if t.version != "" {
			w.emit(Event{Type: Sync, Resource: t.resource, RV: t.version})
		}
	}
	for _, t := range w.order {
		if t.listing != nil {
			w.emit(t.gap)
		}
	}
}

func (w *window) inside(ev Event) {
	if !ev.Type.Object() && ev.Type != Gap && ev.Type != Sync {
		w.emit(ev)
		return
	}
	t := w.track(ev.Resource)
	switch {
	case ev.Type == Gap:
		if t.listing == nil {
			t.listing = newListing()
		}
	case ev.Type == Sync:
		for _, found := range t.close() {
			w.emit(found)
		}
	case t.listing != nil:
		t.listing.put(ev)
		return
	}
	w.emit(ev)
}

// emit passes an event on, on the window's clock. One that was held back
// comes at the time of the one before it.
func (w *window) emit(ev Event) {
	if w.stopped {
		return
	}
	w.last = max(w.last, ev.At)
	ev.At = w.last - w.from
	w.stopped = !w.yield(ev, nil)
}

// newer returns the higher of two resourceVersions, which compare as decimal
// integers (k8s.io/apimachinery/pkg/util/resourceversion); the later one where
// they are none.
func newer(a, b string) string {
	switch {
	case b == "":
		return a
	case a == "" || !decimal(a) || !decimal(b):
		return b
	case len(a) > len(b) || len(a) == len(b) && a > b:
		return a
	}
	return b
}

func decimal(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != "" && s[0] != '0'
}
