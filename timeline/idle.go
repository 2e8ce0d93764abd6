package timeline

import (
	"fmt"
	"iter"
	"sort"
	"time"
)

// IdleLimit makes a tape on which no pause between two events, the one before
// the first included, is longer than limit: longer ones are cut down to it.
// Nothing else changes, and nothing changes its place.
func IdleLimit(limit time.Duration) Transform {
	return func(h *Header, events iter.Seq2[Event, error]) (*Header, iter.Seq2[Event, error]) {
		if limit < 0 {
			return h, failed(fmt.Errorf("idle limit %s: want 0s or more", FormatAt(limit)))
		}
		return h, func(yield func(Event, error) bool) {
			idle := idle{limit: limit}
			for ev, err := range events {
				if err == nil {
					ev.At -= idle.pass(ev.At)
				}
				if !yield(ev, err) || err != nil {
					return
				}
			}
		}
	}
}

// idle adds up what an idle limit has cut off so far.
type idle struct {
	limit, last, cut time.Duration
}

// pass takes the position of the next event and returns what was cut off
// before it.
func (i *idle) pass(at time.Duration) time.Duration {
	if pause := at - i.last; pause > i.limit {
		i.cut += pause - i.limit
	}
	i.last = max(i.last, at)
	return i.cut
}

// IdleMap is the map of time that [IdleLimit] makes, for a player that plays
// the tape as it is and skips its pauses: both show an event at the same
// moment. It grows by a few bytes for each pause that is cut. An IdleMap is
// for one goroutine as long as Pass is called.
type IdleMap struct {
	idle idle
	cuts []pauseCut
}

// pauseCut is where a pause was cut. The tape's positions from start to end
// are all played at start less the cuts before.
type pauseCut struct {
	start, end time.Duration // on the tape; start is limit after the last event
	played     time.Duration // of both
}

// NewIdleMap returns the map for a limit, with no events passed yet. A limit
// below zero cuts nothing.
func NewIdleMap(limit time.Duration) *IdleMap {
	if limit < 0 {
		limit = ToEnd
	}
	return &IdleMap{idle: idle{limit: limit}}
}

// Pass tells the map of the next event's position on the tape, and returns
// when it is played. Positions come in the order of the tape.
func (m *IdleMap) Pass(at time.Duration) time.Duration {
	before := m.idle
	played := at - m.idle.pass(at)
	if m.idle.cut > before.cut {
		m.cuts = append(m.cuts, pauseCut{start: before.last + m.idle.limit, end: at, played: played})
	}
	return played
}

// Played returns when a position of the tape is played, as far as events were
// passed. Positions inside of what was cut are played at the moment of the
// event that ends the pause.
func (m *IdleMap) Played(at time.Duration) time.Duration {
	i := sort.Search(len(m.cuts), func(i int) bool { return m.cuts[i].start > at }) - 1
	switch {
	case i < 0:
		return at
	case at <= m.cuts[i].end:
		return m.cuts[i].played
	}
	return at - m.cuts[i].end + m.cuts[i].played
}

// At returns the last position on the tape that is played at a moment: where a
// pause was cut, that of the event that ends it.
func (m *IdleMap) At(played time.Duration) time.Duration {
	i := sort.Search(len(m.cuts), func(i int) bool { return m.cuts[i].played > played }) - 1
	if i < 0 {
		return played
	}
	return m.cuts[i].end + played - m.cuts[i].played
}
