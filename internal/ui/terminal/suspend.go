package terminal

import (
	"context"
	"os"
	"time"

	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
)

// Suspendable is a part of the terminal that this program has: its screen, its keys, or
// what has to wait until the screen is gone.
type Suspendable interface {
	// Suspend gives it back for a while, and Resume takes it again. Both may be called
	// twice.
	Suspend() error
	Resume() error
}

// suspendTimeout is the time a terminal may take to be given back: one that no program
// reads takes nothing (stty(1), ixon: ctrl-s), and a signal has to be obeyed.
const suspendTimeout = time.Second

// suspendAll suspends parts, in their order. It returns what is closed when all of them
// are, which is later where the terminal takes nothing.
func suspendAll(suspendables []Suspendable) (given <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, l := range suspendables {
			_ = l.Suspend() // where the terminal is gone there is nothing to give back
		}
	}()
	select {
	case <-done:
	case <-time.After(suspendTimeout):
	}
	return done
}

// resumeAll resumes parts, the last first.
func resumeAll(suspendables []Suspendable) {
	for i := range suspendables {
		_ = suspendables[len(suspendables)-1-i].Resume() // as suspendAll
	}
}

// Holder returns the Hold of a panel's terminal.
func Holder(ctx context.Context, tty *os.File, more ...Suspendable) func(*render.Screen) func() {
	return func(s *render.Screen) func() { return Hold(ctx, tty, append([]Suspendable{s}, more...)...) }
}

var _ Suspendable = (*render.Screen)(nil)

// Keys returns the keys of a keyboard, nil where none are read.
func Keys(k *Keyboard) <-chan player.Key {
	if k == nil {
		return nil
	}
	return k.typed
}

// Typed returns what is typed at a keyboard, piece by piece, nil where nothing is read.
func Typed(k *Keyboard) <-chan []byte {
	if k == nil {
		return nil
	}
	return k.pieces
}
