package replay

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// Source is a tape that can be read from its beginning as often as needed: a
// Player opens it again to go back.
type Source interface {
	Open() (Stream, error)
}

// Stream reads a tape once; a *timeline.Reader is one. Next ends with io.EOF
// and hands out whole objects.
type Stream interface {
	Header() *timeline.Header
	Next() (timeline.Event, error)
	Close() error
}

// skipper is a Source that needn't read what it skips.
type skipper interface {
	openAt(n int) (Stream, error)
}

// File is the tape in a file, plain or compressed. It is streamed: its length
// doesn't matter to memory or to the time until the first event. "-", standard
// input, can be read once only.
func File(name string) Source { return file(name) }

type file string

func (f file) Open() (Stream, error) {
	r, err := timeline.Open(string(f))
	if err != nil {
		return nil, err // not a *timeline.Reader that is nil
	}
	return r, nil
}

// Events is a tape in memory. Its objects hold everything that
// [timeline.Event] says of them, in any spelling of JSON; what isn't JSON is an
// error of Open. Neither the header nor the events may be changed afterwards.
func Events(h *timeline.Header, events []timeline.Event) Source {
	return &memory{header: h, events: events}
}

type memory struct {
	header *timeline.Header
	events []timeline.Event

	spelt sync.Once
	err   error
}

func (m *memory) Open() (Stream, error) { return m.openAt(0) }

func (m *memory) openAt(n int) (Stream, error) {
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
