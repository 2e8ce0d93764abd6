package replay

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// skipper is a timeline.Source that needn't read what it skips.
type skipper interface {
	openAt(n int) (timeline.Stream, error)
}

// File is [timeline.File].
func File(name string) timeline.Source { return timeline.File(name) }

// Events is a tape in memory. Its objects hold everything that
// [timeline.Event] says of them, in any spelling of JSON; what isn't JSON is an
// error of Open. Neither the header nor the events may be changed afterwards.
func Events(h *timeline.Header, events []timeline.Event) timeline.Source {
	return &memory{header: h, events: events}
}

type memory struct {
	header *timeline.Header
	events []timeline.Event

	spelt sync.Once
	err   error
}

func (m *memory) Open() (timeline.Stream, error) { return m.openAt(0) }

func (m *memory) openAt(n int) (timeline.Stream, error) {
	m.spelt.Do(func() { m.events, m.err = compact(m.events) })
	if m.err != nil {
		return nil, m.err
	}
	return &memoryStream{memory: m, next: n}, nil
}

// compact spells the objects as everything here reads them: see
// [rawjson.Compact]. Events that are so already are not copied.
func compact(events []timeline.Event) ([]timeline.Event, error) {
	own := false
	var scratch []byte
	for i := range events {
		ev := &events[i]
		if ev.Object == nil {
			continue
		}
		var err error
		if scratch, err = rawjson.Compact(scratch[:0], ev.Object); err != nil {
			return nil, &EventError{Event: *ev, Number: i + 1, Found: "an object that is no JSON (" + err.Error() + ")", Wanted: "the whole object as JSON"}
		}
		if bytes.Equal(scratch, ev.Object) {
			continue
		}
		if !own {
			own, events = true, slices.Clone(events)
		}
		events[i].Object = bytes.Clone(scratch)
	}
	return events, nil
}

type memoryStream struct {
	*memory
	next int
}

func (s *memoryStream) Header() *timeline.Header { return s.header }
func (s *memoryStream) Close() error             { return nil }

func (s *memoryStream) Next() (timeline.Event, error) {
	if s.next >= len(s.events) {
		return timeline.Event{}, io.EOF
	}
	s.next++
	return s.events[s.next-1], nil
}
