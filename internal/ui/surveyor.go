package ui

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/replay"
)

// A Surveyor reads a tape through beside those who play it: how long it is, and
// where its markers are.
type Surveyor struct {
	cancel  context.CancelFunc
	reading sync.WaitGroup
	known   atomic.Pointer[replay.Survey]
}

// soon is the time NewSurveyor waits for a tape: most are short, and then the
// first panel has its bar already.
const soon = 50 * time.Millisecond

// NewSurveyor begins to read. Close it.
func NewSurveyor(ctx context.Context, tape *Tape) *Surveyor {
	ctx, cancel := context.WithCancel(ctx)
	s := &Surveyor{cancel: cancel}
	done := make(chan struct{})
	s.reading.Go(func() {
		defer close(done)
		survey := tape.Survey(ctx)
		if ctx.Err() == nil {
			s.known.Store(&survey)
		}
	})
	wait := time.NewTimer(soon)
	defer wait.Stop()
	select {
	case <-done:
	case <-wait.C:
	}
	return s
}

// Known returns what it has found; zero until it has read all.
func (s *Surveyor) Known() replay.Survey {
	if known := s.known.Load(); known != nil {
		return *known
	}
	return replay.Survey{}
}

// Close ends the reading.
func (s *Surveyor) Close() {
	s.cancel()
	s.reading.Wait()
}
