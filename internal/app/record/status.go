package record

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/recorder"
)

// Status is the line that says how a recording stands. On a terminal it is
// repainted in place; elsewhere it is a line of its own, seldom, and whenever
// there is a new gap. All methods may be called on nil, and by several
// goroutines.
type Status struct {
	// Out is where it goes.
	Out io.Writer
	// Width of the terminal, asked before each repaint; nil where there is none.
	Width func() int
	// Every is the time between two lines; 0 means 0.5 s on a terminal
	// and 30 s elsewhere.
	Every time.Duration

	mu      sync.Mutex
	painted bool
	gaps    int
	waiting string // what was found instead of a node; "" where nothing is waited for
	since   time.Time
	next    time.Time // when the next line is due
}

// Warn tells of something that doesn't end the recording.
func (s *Status) Warn(message string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintln(s.Out, "nodesim: warning: "+noderoll.OneLine(message))
}

// Wait says that the recording waits for its first node, and what was found instead.
func (s *Status) Wait(found string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.waiting, s.since = noderoll.OneLine(found), time.Now()
	s.mu.Unlock()
	s.due()
	s.wait()
}

func (s *Status) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting != ""
}

// wait shows the line of a recording that waits.
func (s *Status) wait() {
	s.mu.Lock()
	found, since := s.waiting, time.Since(s.since)
	s.mu.Unlock()
	s.show("waiting " + since.Truncate(time.Second).String() + " for the first node: " + found)
}

// look is the interval at which a terminal's line is repainted, and a gap elsewhere is seen.
const look = 500 * time.Millisecond

// every returns the time between two lines.
func (s *Status) every() time.Duration {
	switch {
	case s.Every > 0:
		return s.Every
	case s.Width != nil:
		return look
	}
	return 30 * time.Second
}

// due reports whether it is time for a line; then the next one is due later.
func (s *Status) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Before(s.next) {
		return false
	}
	s.next = now.Add(s.every() - look/10)
	return true
}

// follow shows the line until ctx ends, and takes it away.
func (s *Status) follow(ctx context.Context, stats func() recorder.Stats) {
	if s == nil {
		return
	}
	ticker := time.NewTicker(min(look, s.every()))
	defer ticker.Stop()
	began := false
	for {
		st := stats()
		if st.Events > 0 && !began {
			began = true
			s.mu.Lock()
			s.next = time.Time{} // after a line that says that it waits, too
			s.mu.Unlock()
		}
		switch {
		case began && s.due():
			s.paint(st)
		case began:
			s.news(st)
		case s.waits() && s.due(): // otherwise the cluster is being asked
			s.wait()
		}
		select {
		case <-ctx.Done():
			s.mu.Lock()
			defer s.mu.Unlock()
			s.clear()
			return
		case <-ticker.C:
		}
	}
}

// news shows the line out of turn where there is a new gap.
func (s *Status) news(st recorder.Stats) {
	s.mu.Lock()
	more := st.Gaps > s.gaps
	s.mu.Unlock()
	if more {
		s.paint(st)
	}
}

func (s *Status) paint(st recorder.Stats) {
	s.mu.Lock()
	s.gaps = st.Gaps
	s.mu.Unlock()
	s.show(Line(st))
}

// show paints a line, or prints it.
func (s *Status) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Width == nil {
		fmt.Fprintln(s.Out, line)
		return
	}
	s.painted = true
	line += " (ctrl-c ends)"
	fmt.Fprint(s.Out, "\r\x1b[K"+noderoll.Brief(line, max(s.Width()-1, 1)))
}

func (s *Status) clear() {
	if s.painted {
		s.painted = false
		fmt.Fprint(s.Out, "\r\x1b[K")
	}
}

// Line says in one line how a recording stands.
func Line(st recorder.Stats) string {
	parts := []string{
		phrase.Count(st.Nodes, "node"), phrase.Count(st.Events, "event"), phrase.Bytes(st.Bytes), gaps(st.Gaps),
	}
	for _, r := range st.Resources {
		if !r.Connected && r.Failure != "" {
			parts = append(parts, noderoll.Brief(r.Resource+" is cut off: "+r.Failure, 100))
		}
	}
	return "recording " + st.At.Truncate(time.Second).String() + ": " + strings.Join(parts, ", ")
}
