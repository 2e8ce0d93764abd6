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

// follow shows the line until ctx ends, and takes it away.
func (s *Status) follow(ctx context.Context, stats func() recorder.Stats) {
	if s == nil {
		return
	}
	const look = 500 * time.Millisecond
	every := s.Every
	if every == 0 {
		if every = 30 * time.Second; s.Width != nil {
			every = look
		}
	}
	ticker := time.NewTicker(min(look, every))
	defer ticker.Stop()
	next := time.Now()
	for {
		now := time.Now()
		if st := stats(); st.Events > 0 { // before, the cluster is being asked
			if now.Before(next) {
				s.news(st)
			} else {
				s.paint(st)
				next = now.Add(every - look/10)
			}
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
	defer s.mu.Unlock()
	s.gaps = st.Gaps
	line := Line(st)
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
