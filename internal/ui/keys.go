package ui

import (
	"context"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/app/control"
)

// Key is a command of the user at a terminal.
type Key int

// The keys.
const (
	KeyQuit       Key = iota
	KeyPause          // or to continue
	KeyForward        // ten seconds of tape
	KeyBack           // ten seconds
	KeyFarForward     // a minute
	KeyFarBack        // a minute
	KeyFaster         // twice as fast
	KeySlower         // half as fast
	KeyEvent          // the next event, and stay there
	KeyTransition     // the next transition of a node, and stay there
	KeyMarker         // the next marker
	KeyLastMarker     // the one before
	KeyHelp           // show what the keys do, or hide it
)

// How far the keys skip. Players of films skip as far.
const (
	skip    = 10 * time.Second
	farSkip = time.Minute
)

// commands hold what the keys do to a tape. All but the pause take their turn with
// others who move it.
var commands = map[Key]func(context.Context, *control.Control) error{
	KeyPause:      func(_ context.Context, c *control.Control) error { c.Toggle(); return nil },
	KeyForward:    func(ctx context.Context, c *control.Control) error { return c.Skip(ctx, skip) },
	KeyBack:       func(ctx context.Context, c *control.Control) error { return c.Skip(ctx, -skip) },
	KeyFarForward: func(ctx context.Context, c *control.Control) error { return c.Skip(ctx, farSkip) },
	KeyFarBack:    func(ctx context.Context, c *control.Control) error { return c.Skip(ctx, -farSkip) },
	KeyFaster:     func(_ context.Context, c *control.Control) error { c.Faster(); return nil },
	KeySlower:     func(_ context.Context, c *control.Control) error { c.Slower(); return nil },
	KeyEvent:      stepTo(control.UntilEvent),
	KeyTransition: stepTo(control.UntilTransition),
	KeyMarker:     func(ctx context.Context, c *control.Control) error { return c.NextMarker(ctx) },
	KeyLastMarker: func(ctx context.Context, c *control.Control) error { return c.PreviousMarker(ctx) },
}

func stepTo(u control.Until) func(context.Context, *control.Control) error {
	return func(ctx context.Context, c *control.Control) error {
		_, err := c.Step(ctx, control.Steps{Until: u})
		return err
	}
}

// keyHandler obeys keys one after the other, beside the tape's viewer: a step may
// have to wait for its turn, and a panel must not.
type keyHandler struct {
	control *control.Control
	say     func(error) // of a key that can't be obeyed; may be nil
	keys    chan Key
	working sync.WaitGroup
}

// newKeyHandler begins. It obeys until rest.
func newKeyHandler(ctx context.Context, c *control.Control, say func(error)) *keyHandler {
	h := &keyHandler{control: c, say: say, keys: make(chan Key, 8)}
	h.working.Go(func() {
		for k := range h.keys {
			if ctx.Err() != nil {
				continue
			}
			if err := commands[k](ctx, h.control); err != nil && ctx.Err() == nil && h.say != nil {
				h.say(err)
			}
		}
	})
	return h
}

// obey takes a key, unless too many wait already: a key is no promise.
func (h *keyHandler) obey(k Key) {
	if commands[k] == nil {
		return
	}
	select {
	case h.keys <- k:
	default:
	}
}

// rest ends the work; the context must have ended.
func (h *keyHandler) rest() {
	close(h.keys)
	h.working.Wait()
}
