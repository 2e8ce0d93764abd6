package ui

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/replay"
)

// A Summarizer reads a tape through beside those who play it: how long it is, and
// where its markers are.
type Summarizer struct {
	cancel  context.CancelFunc
	reading sync.WaitGroup
	known   atomic.Pointer[replay.Summary]
}

// soon is the time NewSummarizer waits for a tape: most are short, and then the
// first panel has its bar already.
const soon = 50 * time.Millisecond

// NewSummarizer begins to read. Close it.
func NewSummarizer(ctx context.Context, tape *Tape) *Summarizer {
	ctx, cancel := context.WithCancel(ctx)
	s := &Summarizer{cancel: cancel}
	done := make(chan struct{})
	s.reading.Go(func() {
		defer close(done)
		survey := tape.Summarize(ctx)
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
func (s *Summarizer) Known() replay.Summary {
	if known := s.known.Load(); known != nil {
		return *known
	}
	return replay.Summary{}
}

// Close ends the reading.
func (s *Summarizer) Close() {
	s.cancel()
	s.reading.Wait()
}
