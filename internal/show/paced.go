package show

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/control"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// tick is how often a paced replay looks at the time between two events, and
// how often a screen is repainted.
const tick = 50 * time.Millisecond

// Watcher looks at a paced replay from outside of the tape.
type Watcher struct {
	// Look is called at the beginning, on every tick, behind every key and at the
	// end, one call at a time, while the Driver rests. It must not take long.
	Look func(replay.Status) error
	// Keys are obeyed as they come. May be nil.
	Keys <-chan Key
	// Control is what the keys move; nil for one of Play's own.
	Control *control.Control
	// Begin is called once, when the tape stands at its beginning and before it
	// goes on. May be nil.
	Begin func() error
	// Pressed is called with each key but the one that quits, as Look is. May be
	// nil.
	Pressed func(Key)
	// Say is told why a key couldn't be obeyed, from another goroutine. May be nil.
	Say func(error)
}

// ErrQuit is what Paced and Play return behind KeyQuit.
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
	return play(ctx, p, tape, d, w, source.goesOn.Load)
}

// Play runs a Player of the tape, from d.From to d.To as its options say, and
// hands everything to the Driver when it is due. Others may move the Player
// meanwhile: where it goes back, the View goes back with it, and what the Sink
// has seen once on the way it doesn't see again.
//
// It returns when Run does, behind KeyQuit, or with the first error of the Sink or
// the Watcher.
func Play(ctx context.Context, p *replay.Player, tape *Tape, d *Driver, w Watcher) error {
	return play(ctx, p, tape, d, w, func() bool { return false })
}

// play is Play; goesOn says at the end whether the tape has more than the Player
// was to play.
func play(ctx context.Context, p *replay.Player, tape *Tape, d *Driver, w Watcher, goesOn func() bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e := &eyes{driver: d}
	if !tape.Streams() {
		e.tape = tape.Source()
	}
	unsubscribe := p.Subscribe(func(n replay.Note) {
		if ctx.Err() != nil {
			return
		}
		if err := e.note(n); err != nil {
			cancel(err)
		}
	})
	defer unsubscribe()
	look := func() error {
		moves := e.moved()
		return e.look(p.Status(), moves, w.Look)
	}

	// What stands before the beginning is no moment to look at.
	if p.Status().Number == 0 {
		if err := p.Seek(ctx, d.From); err != nil {
			return errors.Join(err, d.End(), look())
		}
	}
	if w.Begin != nil {
		if err := w.Begin(); err != nil {
			return err
		}
	}
	if w.Control == nil {
		w.Control = control.New(p, control.Eyes{Transitions: d.Transitions})
	}
	hand := newHand(ctx, w.Control, w.Say)
	defer hand.rest()
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
			if err == nil && goesOn() {
				err = d.Advance(d.To)
			}
			return errors.Join(err, d.End(), look())
		case k := <-w.Keys:
			if k == KeyQuit {
				return ErrQuit
			}
			if w.Pressed != nil {
				w.Pressed(k)
			}
			hand.obey(k)
		case <-ticker.C:
		}
	}
}

// eyes hand what a Player does to a Driver, in its order.
type eyes struct {
	tape replay.Source // to look again at what came before; nil where it can't be

	mu     sync.Mutex // the Driver's; never held while the Player is asked
	driver *Driver
	moves  int // how often the Player has jumped
}

func (e *eyes) moved() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.moves
}

// note is told by the Player, within its work.
func (e *eyes) note(n replay.Note) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.driver
	switch n.Kind {
	case replay.Applied:
		return d.Event(n.Event)
	case replay.Rewound:
		e.moves++
		return d.Rewind(e.tape, n.Number)
	case replay.Moved:
		e.moves++
		d.Arrived()
		// Between two events it can go back without a rewind.
		if e.tape != nil && d.View.At() > n.Position {
			defer d.Arrived()
			return d.Rewind(e.tape, n.Number)
		}
	}
	return nil
}

// look lets the Driver's time pass, unless the Player has jumped since it gave the
// status, when it had jumped moves times.
func (e *eyes) look(s replay.Status, moves int, then func(replay.Status) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	if e.moves == moves {
		err = e.driver.Advance(s.Position)
	}
	if then != nil && err == nil {
		err = then(s)
	}
	return err
}
