package simulate

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
)

// Status is the line that says how far simulations are. On a terminal it is
// repainted in place; elsewhere it is a line of its own, seldom. What is done
// before its first time shows nothing.
type Status struct {
	// Out is where it goes.
	Out io.Writer
	// Width of the terminal, asked before each repaint; nil where there is none.
	Width func() int

	painted bool
}

// follow shows how far a tape is until ctx ends. It may be called on nil.
func (s *Status) follow(ctx context.Context, standing func() (at time.Duration, events, bytes int64)) {
	s.Follow(ctx, func(took time.Duration) string {
		at, events, bytes := standing()
		return fmt.Sprintf("simulating %s: %s, %s, %s", position(at), phrase.Count(int(events), "event"), phrase.Bytes(bytes), pace(at, took))
	})
}

// Follow shows the line of a time that was taken until ctx ends, and takes it away. It may be called on nil.
func (s *Status) Follow(ctx context.Context, line func(took time.Duration) string) {
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
		text := line(time.Since(began))
		if s.Width == nil {
			fmt.Fprintln(s.Out, text)
			continue
		}
		s.painted = true
		fmt.Fprint(s.Out, "\r\x1b[K"+noderoll.Brief(text+" (ctrl-c ends)", max(s.Width()-1, 1)))
	}
}

// pace says how many times as fast as a clock the tape has come.
func pace(tape, wall time.Duration) string {
	return fmt.Sprintf("%dx", int64(tape/max(wall, time.Millisecond)))
}

func position(at time.Duration) string { return string(noderoll.AppendStamp(nil, at)) }
