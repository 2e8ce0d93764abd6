package hunt

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios/hunt"
)

// Status is the line that says how far a search is. On a terminal it is repainted in place; elsewhere it is a line of its own,
// seldom. A nil Status shows nothing.
type Status struct {
	// Out is where it goes.
	Out io.Writer
	// Width of the terminal, asked before each repaint; nil where there is none.
	Width func() int

	mu      sync.Mutex
	is      hunt.Progress
	painted bool
}

// note takes how far the search is.
func (s *Status) note(p hunt.Progress) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.is = p
}

func (s *Status) standing() hunt.Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.is
}

// follow shows the line until the context ends, and takes it away.
func (s *Status) follow(ctx context.Context) {
	if s == nil {
		return
	}
	every := 30 * time.Second
	if s.Width != nil {
		every = 500 * time.Millisecond
	}
	began := time.Now()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			if s.painted {
				fmt.Fprint(s.Out, "\r\x1b[K")
			}
			return
		case <-ticker.C:
		}
		text := line(s.standing(), time.Since(began))
		if s.Width == nil {
			fmt.Fprintln(s.Out, text)
			continue
		}
		s.painted = true
		fmt.Fprint(s.Out, "\r\x1b[K"+noderoll.Brief(text+" (ctrl-c ends)", max(s.Width()-1, 1)))
	}
}

// line is the line after a time.
func line(p hunt.Progress, took time.Duration) string {
	rate := int64(p.Tried) * int64(time.Second) / int64(max(took, time.Millisecond))
	text := fmt.Sprintf("hunt: %s rolls, %s/s, ", thousands(int64(p.Tried)), thousands(rate))
	if p.Failed {
		return text + fmt.Sprintf("found one; made small in %s runs so far", thousands(int64(p.Tries)))
	}
	return text + "nothing found"
}

// thousands writes a number with commas: 5,210.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
