package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/replay/internal/option"
	"github.com/nodesim/nodesim/timeline"
)

// An Engine makes events as time passes, where a tape has them all from the
// beginning: a simulated cluster, whose future depends on what clients write.
// The Player that holds it calls its methods one at a time.
type Engine interface {
	// Header names the resources. It never changes.
	Header() *timeline.Header
	// Made returns the next event that was made and not returned yet, in the
	// order of the writes; ok is false where there is none. An event has either
	// a whole object or, if it is MODIFIED or DELETED, a patch of the version
	// before. The initial lists, with their SYNC events, are made before time
	// begins to pass.
	Made() (ev timeline.Event, ok bool)
	// Due returns the moment when something happens next, whether it makes
	// events or not; ok is false where nothing happens before somebody writes.
	Due() (at time.Duration, ok bool)
	// Advance lets time pass up to a moment. What is due then has happened when
	// it returns; nothing later has.
	Advance(to time.Duration) error
	// Put takes a write of a client, at the moment that Advance has reached:
	// ADDED or MODIFIED with the whole object, or DELETED. It returns the new
	// resourceVersion. It makes no event of the write itself, and does what
	// follows from it in a later Advance, though perhaps at the same moment.
	Put(ev timeline.Event) (rv string, err error)
	// Close ends it.
	Close() error
}

// NewEnginePlayer returns a Player of what an Engine makes. Its time passes as
// that of a tape does: by Run at the Player's speed, by Step to the next event,
// by Seek to a later moment. It has no end, and there is no way back.
//
// [Player.Transact] writes to it.
func NewEnginePlayer(e Engine, opts ...Option) (*Player, error) {
	p := newPlayer()
	if err := option.Refuse("replay.NewEnginePlayer", option.Apply(p, opts), "those of package replay, and fault.Inject"); err != nil {
		return nil, err
	}
	switch {
	case p.loop:
		return nil, errors.New("a cluster that takes writes has no end to start again from: want no Loop")
	case p.pace.limit > 0:
		return nil, errors.New("a cluster that takes writes doesn't know how long nothing will happen: want no IdleLimit")
	case p.pace.speed.max():
		return nil, errors.New("speed max: a cluster that takes writes has no end to run to: want a speed of up to " + Speed(fastest).String())
	case p.to != End:
		return nil, errors.New("a cluster that takes writes has no end: want no To")
	}
	p.engine, p.every = e, 0
	if err := p.start(engineStream{e}); err != nil {
		return nil, err
	}
	return p, nil
}

// A Rewriter is a FaultInjector that may change what is in the Cluster, and not
// only what clients see of it.
type Rewriter interface {
	// Rewrites names the fault that does; "" for none.
	Rewrites() string
}

// keepsState refuses a FaultInjector that would give the Cluster objects that the
// Engine doesn't know.
func (p *Player) keepsState(i FaultInjector) error {
	if r, is := i.(Rewriter); is && p.engine != nil && r.Rewrites() != "" {
		return fmt.Errorf("fault %s: a cluster that takes writes keeps its own objects: want a fault of watches or requests, or a client that deletes", r.Rewrites())
	}
	return nil
}

// engineStream is an Engine as a tape that has no event for now.
type engineStream struct{ Engine }

func (s engineStream) Next() (timeline.Event, error) {
	if ev, ok := s.Made(); ok {
		return ev, nil
	}
	return timeline.Event{}, errNoEvent
}

var errNoWayBack = errors.New("a cluster that takes writes can't go back in time")

// quiet is what advance does where an Engine has no event to apply: it lets time
// pass to the next moment that is due, or says how long to wait for it.
func (p *Player) quiet(now time.Duration) (wait time.Duration, err error) {
	p.cluster.Settle()
	at, ok := p.nextDue()
	if !ok {
		return forever, nil
	}
	if due := p.pace.Shown(at); due > now {
		return p.pause(due - now), nil
	}
	return 0, p.passTo(at)
}

// nextDue returns when something happens next, in the Engine or by a fault.
func (p *Player) nextDue() (at time.Duration, ok bool) {
	at, ok = p.engine.Due()
	if between, is := p.cluster.due(); is && (!ok || between < at) {
		return between, true
	}
	return at, ok
}

// passTo lets the Engine's time pass up to a moment, at which the next thing is
// due or nothing is.
func (p *Player) passTo(at time.Duration) error {
	p.cluster.Pass(at)
	if err := p.engine.Advance(at); err != nil {
		p.err = err
		return err
	}
	p.reached = at
	return nil
}

// passToward lets the Engine's time pass to the next thing that is due, and
// reports whether that is beyond a moment: time stands at that moment then.
func (p *Player) passToward(to time.Duration) (there bool, err error) {
	p.cluster.Settle()
	at, due := p.nextDue()
	if there = !due || at > to; there {
		at = to
	}
	return there, p.passTo(at)
}
