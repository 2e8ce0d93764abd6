package show

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// tick is how often a paced replay looks at the time between two events, and
// how often a screen is repainted.
const tick = 50 * time.Millisecond

// Key is what somebody at a terminal asks for.
type Key int

// The keys.
const (
	KeyQuit  Key = iota
	KeyPause     // or to go on
)

// Watcher looks at a paced replay from outside of the tape.
type Watcher struct {
	// Look is called at the beginning, on every tick and at the end, one call
	// at a time, while the Driver rests. It must not take long.
	Look func(replay.Status) error
	// Keys are obeyed as they come. May be nil.
	Keys <-chan Key
}

// ErrQuit is what Paced returns behind KeyQuit.
var ErrQuit = errors.New("quit")

// Paced plays a tape, which r has opened, at the pace of a Player made from the
// options, and hands everything to the Driver when it is due. It closes r.
//
// It returns when the tape or the context ends, or with the first error of the
// tape, the Sink or the Watcher.
func Paced(ctx context.Context, tape *Tape, r *timeline.Reader, d *Driver, w Watcher, opts ...replay.PlayerOption) error {
	source := &part{first: r, tape: tape, to: d.To}
	p, err := replay.NewPlayer(source, append(opts, replay.From(d.From), replay.To(d.To))...)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }() // it was only read
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // the Driver's; never held while the Player is asked
	unsubscribe := p.Subscribe(func(n replay.Note) {
		if n.Kind != replay.Applied || ctx.Err() != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if err := d.Event(n.Event); err != nil {
			cancel(err)
		}
	})
	defer unsubscribe()
	look := func() error {
		status := p.Status()
		mu.Lock()
		defer mu.Unlock()
		err := d.Advance(status.Position)
		if w.Look != nil && err == nil {
			err = w.Look(status)
		}
		return err
	}

	// What stands before the beginning is no moment to look at.
	if err := p.Seek(ctx, d.From); err != nil {
		return errors.Join(err, d.End(), look())
	}
	ran := make(chan error, 1)
	var player sync.WaitGroup
	player.Go(func() { ran <- p.Run(ctx) })
	defer player.Wait()
	defer cancel(nil)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		if err := look(); err != nil {
			return err
		}
		select {
		case err := <-ran:
			if cause := context.Cause(ctx); cause != nil && err != nil {
				err = cause
			}
			if err == nil && source.goesOn.Load() {
				err = d.Advance(d.To)
			}
			return errors.Join(err, d.End(), look())
		case k := <-w.Keys:
			switch {
			case k == KeyQuit:
				return ErrQuit
			case p.Status().Paused:
				p.Resume()
			default:
				p.Pause()
			}
		case <-ticker.C:
		}
	}
}
