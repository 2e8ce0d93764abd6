package ui

import (
	"context"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/ui/player"
)

// Move is something that a user does to a tape. It may wait for its turn.
type Move func(context.Context, *control.Control) error

// How far the keys skip. Players of films skip as far.
const (
	skip    = 10 * time.Second
	farSkip = time.Minute
)

// commands hold what the keys do to a tape. All but the pause take their turn with
// others who move it.
var commands = map[player.Key]Move{
	player.KeyPause:      func(_ context.Context, c *control.Control) error { c.Toggle(); return nil },
	player.KeyForward:    func(ctx context.Context, c *control.Control) error { return c.Skip(ctx, skip) },
	player.KeyBack:       func(ctx context.Context, c *control.Control) error { return c.Skip(ctx, -skip) },
	player.KeyFarForward: func(ctx context.Context, c *control.Control) error { return c.Skip(ctx, farSkip) },
	player.KeyFarBack:    func(ctx context.Context, c *control.Control) error { return c.Skip(ctx, -farSkip) },
	player.KeyFaster:     func(_ context.Context, c *control.Control) error { c.Faster(); return nil },
	player.KeySlower:     func(_ context.Context, c *control.Control) error { c.Slower(); return nil },
	player.KeyEvent:      stepTo(control.UntilEvent),
	player.KeyTransition: stepTo(control.UntilTransition),
	player.KeyMarker:     func(ctx context.Context, c *control.Control) error { return c.NextMarker(ctx) },
	player.KeyLastMarker: func(ctx context.Context, c *control.Control) error { return c.PreviousMarker(ctx) },
}

func stepTo(u control.Until) Move {
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
	moves   chan Move
	working sync.WaitGroup
}

// newKeyHandler begins. It obeys until rest.
func newKeyHandler(ctx context.Context, c *control.Control, say func(error)) *keyHandler {
	h := &keyHandler{control: c, say: say, moves: make(chan Move, 8)}
	h.working.Go(func() {
		for move := range h.moves {
			if ctx.Err() != nil {
				continue
			}
			if err := move(ctx, h.control); err != nil && ctx.Err() == nil && h.say != nil {
				h.say(err)
			}
		}
	})
	return h
}

// obey takes a key.
func (h *keyHandler) obey(k player.Key) {
	if move := commands[k]; move != nil {
		h.take(move)
	}
}

// take takes a move, unless too many wait already: a key is no promise.
func (h *keyHandler) take(m Move) {
	select {
	case h.moves <- m:
	default:
	}
}

// rest ends the work; the context must have ended.
func (h *keyHandler) rest() {
	close(h.moves)
	h.working.Wait()
}
