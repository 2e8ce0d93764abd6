package ui

import (
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// part is the Source whose first stream is a Reader that is open already. It
// notes whether the tape continues after the part that is played.
type part struct {
	first *timeline.Reader
	tape  *Tape
	to    time.Duration

	goesOn atomic.Bool
}

// Open implements timeline.Source.
func (p *part) Open() (timeline.Stream, error) {
	r := p.first
	p.first = nil
	if r == nil {
		var err error
		if r, err = p.tape.Reader(); err != nil {
			return nil, err
		}
	}
	return partStream{r, p}, nil
}

type partStream struct {
	*timeline.Reader
	part *part
}

// Next implements timeline.Stream.
func (s partStream) Next() (timeline.Event, error) {
	ev, err := s.Reader.Next()
	if err == nil && ev.At > s.part.to {
		s.part.goesOn.Store(true)
	}
	return ev, err
}
