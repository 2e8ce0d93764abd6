package ui

import (
	"context"
	"sync"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// playerFollower hands what a Player does to a Driver, in its order, up to the first error.
type playerFollower struct {
	tape timeline.Source // to look again at what came before; nil where it can't be

	mu     sync.Mutex // the Driver's; never held while the Player is asked
	driver *Driver
	moves  int // how often the Player has jumped
	err    error
	tell   context.CancelCauseFunc // of the error; nil while nothing plays
}

// onError says which function is told of an error, at once if there is one already.
func (e *playerFollower) onError(tell context.CancelCauseFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tell = tell; e.err != nil {
		tell(e.err)
	}
}

func (e *playerFollower) moved() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.moves
}

// note is told by the Player, within its work.
func (e *playerFollower) note(n replay.Note) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return
	}
	if e.err = e.follow(n); e.err != nil && e.tell != nil {
		e.tell(e.err)
	}
}

// follow is called with mu held.
func (e *playerFollower) follow(n replay.Note) error {
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

// update lets the Driver's time pass, unless the Player has jumped since it gave the
// status, when it had jumped moves times.
func (e *playerFollower) update(s replay.Status, moves int, then func(replay.Status) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	if e.moves == moves && e.err == nil {
		err = e.driver.Advance(s.Position)
	}
	if then != nil && err == nil {
		err = then(s)
	}
	return err
}
