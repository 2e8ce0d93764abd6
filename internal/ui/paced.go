package ui

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// tick is the interval at which a paced replay looks at the time between two events, and
// how often a screen is repainted.
const tick = 50 * time.Millisecond

// Watcher looks at a paced replay from outside of the tape.
type Watcher struct {
	// Update is called at the beginning, on every tick, after every key and at the
	// end, one call at a time, while the Driver rests. It must not take long.
	Update func(replay.Status) error
	// Keys are obeyed as they come. May be nil.
	Keys <-chan player.Key
	// Moves are made as they come. May be nil.
	Moves <-chan Move
	// Control is moved by both; nil for one of Play's own.
	Control *control.Control
	// Say is told why a key couldn't be obeyed, from another goroutine. May be nil.
	Say func(error)
}

// ErrQuit holds what Paced and Play return after player.KeyQuit.
var ErrQuit = errors.New("quit")

// Paced plays a tape, which r has opened, at the pace of a Player made from the
// options, and hands everything to the Driver when it is due. It closes r.
//
// It returns when the tape or the context ends, or with the first error of the
// tape, the Sink or the Watcher.
func Paced(ctx context.Context, tape *Tape, r *timeline.Reader, d *Driver, w Watcher, opts ...replay.Option) error {
	source := &part{first: r, tape: tape, to: d.To}
	p, err := replay.NewPlayer(source, append(opts, replay.From(d.From), replay.To(d.To))...)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }() // it was only read
	s := Over(p, tape, d)
	defer s.Close()
	s.goesOn = source.goesOn.Load
	return s.Play(ctx, w)
}

// Show shows what a Player does to its tape, to a Driver. Others may move the
// Player meanwhile: where it goes back, the View goes back with it, and what the
// Sink has seen once on the way it doesn't see again.
type Show struct {
	player   *replay.Player
	follower *playerFollower
	close    func()
	goesOn   func() bool // whether the tape has more than the Player was to play
}

// Over begins to look at a Player of the tape, to which nothing has happened yet.
// Close it.
func Over(p *replay.Player, tape *Tape, d *Driver) *Show {
	s := &Show{player: p, follower: &playerFollower{driver: d}, goesOn: func() bool { return false }}
	if !tape.Streams() {
		s.follower.tape = tape.Source()
	}
	d.View.follower.TrustPatches() // a Tape's events come from a Reader
	s.close = p.Subscribe(s.follower.note)
	return s
}

// Close ends it. The Player may continue.
func (s *Show) Close() { s.close() }

// Play runs the Player, and hands everything to the Driver when it is due. It
// returns when Run does, after player.KeyQuit, or with the first error of the Sink or
// the Watcher. It is called once.
func (s *Show) Play(ctx context.Context, w Watcher) error {
	p, d := s.player, s.follower.driver
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.follower.onError(cancel)
	look := func() error {
		moves := s.follower.moved()
		return s.follower.update(p.Status(), moves, w.Update)
	}
	if p.Status().Number == 0 {
		// What is before the beginning is no moment to look at.
		if err := p.Seek(ctx, d.From); err != nil {
			return errors.Join(err, d.End(), look())
		}
	}
	if w.Control == nil {
		w.Control = control.New(p, control.Sources{Transitions: d.Landmarks})
	}
	handler := newKeyHandler(ctx, w.Control, w.Say)
	defer handler.rest()
	ran := make(chan error, 1)
	var playing sync.WaitGroup
	playing.Go(func() { ran <- p.Run(ctx) })
	defer playing.Wait()
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
			if err == nil && s.goesOn() {
				err = d.Advance(d.To)
			}
			return errors.Join(err, d.End(), look())
		case k := <-w.Keys:
			if k == player.KeyQuit {
				return ErrQuit
			}
			handler.obey(k)
		case m := <-w.Moves:
			handler.take(m)
		case <-ticker.C:
		}
	}
}
