package main

import (
	"context"
	"os"
	"time"

	"github.com/nodesim/nodesim/internal/render"
	"github.com/nodesim/nodesim/internal/show"
)

// A loan is a part of the terminal that this program has: its screen, its keys, or
// what has to wait until the screen is gone.
type loan interface {
	// Suspend gives it back for a while, and Resume takes it again. Both may be called
	// twice.
	Suspend() error
	Resume() error
}

// giveBackMost is how long a terminal may take to be given back: one that nobody
// reads takes nothing (stty(1), ixon: ctrl-s), and a signal has to be obeyed.
const giveBackMost = time.Second

// giveBack suspends loans, in their order. It returns what is closed when all of them
// are, which is later where the terminal takes nothing.
func giveBack(loans []loan) (given <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, l := range loans {
			_ = l.Suspend() // where the terminal is gone there is nothing to give back
		}
	}()
	select {
	case <-done:
	case <-time.After(giveBackMost):
	}
	return done
}

// takeAgain resumes loans, the last first.
func takeAgain(loans []loan) {
	for i := range loans {
		_ = loans[len(loans)-1-i].Resume() // as giveBack
	}
}

// holder returns the Hold of a panel's terminal.
func holder(ctx context.Context, tty *os.File, more ...loan) func(*render.Screen) func() {
	return func(s *render.Screen) func() { return hold(ctx, tty, append([]loan{s}, more...)...) }
}

var _ loan = (*render.Screen)(nil)

// keysOf are those of a terminal, nil where none are read.
func keysOf(k *keyboard) <-chan show.Key {
	if k == nil {
		return nil
	}
	return k.typed
}
