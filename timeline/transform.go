package timeline

import (
	"iter"
	"math"
	"time"
)

// Transform makes a tape of another: a header and a sequence of events, as a
// [Reader] gives them, become the header and the events of the new tape. The
// header that went in is not written to.
//
// Transforms are pure and streaming. Their memory grows with the objects that
// are alive, not with the tape. They want whole objects, so not what a Reader
// with [Lines] hands out. The sequence may be ranged over as often as the one
// that went in. Where it yields an error, which is also how a Transform says
// that its arguments are wrong, that is the last thing that it yields.
//
// END counts the events of the new tape. The header's faults stay as they are: their
// positions and durations are those of the old tape.
type Transform func(h *Header, events iter.Seq2[Event, error]) (*Header, iter.Seq2[Event, error])

// Chain returns one Transform that applies several in their order.
func Chain(ts ...Transform) Transform {
	return func(h *Header, events iter.Seq2[Event, error]) (*Header, iter.Seq2[Event, error]) {
		for _, t := range ts {
			h, events = t(h, events)
		}
		return h, events
	}
}

// ToEnd is a position after the end of every tape.
const ToEnd = time.Duration(math.MaxInt64)

// failed is the sequence of a Transform that can't start.
func failed(err error) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Event{}, err) }
}

// edit ranges over events and hands those without an error to one, together
// with the function that passes events on. one returns false to stop.
func edit(events iter.Seq2[Event, error], one func(ev Event, yield func(Event, error) bool) bool) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for ev, err := range events {
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !one(ev, yield) {
				return
			}
		}
	}
}

// recount makes END count the events of this sequence.
func recount(events iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		n := 0
		for ev, err := range events {
			n++
			if err == nil && ev.Type == End {
				ev.Events = n
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}
