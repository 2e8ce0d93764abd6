package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// Tx is one moment of an [Engine]'s time at which somebody writes. It is for the
// goroutine that [Player.Transact] calls, until that call returns.
type Tx struct {
	player *Player
	at     time.Duration
}

// At returns the moment, as a position.
func (t *Tx) At() time.Duration { return t.at }

// Put writes: ADDED or MODIFIED with a whole object, or DELETED. Its position
// is the moment's, its version the Engine's. It returns the object as it is
// stored, a deleted one as it was, with the version of its deletion.
func (t *Tx) Put(ev timeline.Event) (*Object, error) {
	p := t.player
	if p == nil {
		return nil, errors.New("a Tx was used after its Transact")
	}
	ev.At = t.at
	if err := p.cluster.accepts(ev); err != nil {
		return nil, err
	}
	if err := p.cluster.full(ev); err != nil {
		return nil, err
	}
	if p.running && !p.pace.paused {
		if err := p.writes.endless(ev); err != nil {
			p.err = err
			return nil, err
		}
	}
	deleted := p.cluster.objectOf(ev)
	rv, err := p.engine.Put(ev)
	if err != nil {
		return nil, err
	}
	ev.RV = rv
	changed, err := p.cluster.Apply(ev)
	if err != nil {
		// What is alive was looked at first: engine and cluster disagree.
		p.err = fmt.Errorf("after a write: %w", err)
		return nil, p.err
	}
	p.number++
	p.at = ev.At
	o := p.cluster.objectOf(ev)
	if ev.Type == timeline.Deleted { // a FaultInjector may keep it from the log, or put something after it
		o = p.cluster.gone(deleted, rv)
	}
	ev.Object = o.raw
	p.note(Note{Kind: Applied, Event: ev, Changed: changed})
	return o, nil
}

// CatchUp brings an [Engine] to the present moment: what is due has happened. A
// read sees the same then, whether it or Run comes first at that moment. Of a
// tape it does nothing.
func (p *Player) CatchUp() error {
	if p.engine == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forward(context.Background(), p.position(p.clock.Now()))
}

// Transact calls f at the present moment, at which nothing else happens
// meanwhile: what f reads in the Cluster stays as it is until f writes. What was
// due before has happened. The error is f's, or that of the Engine.
//
// It is for a Player of an [Engine]. Where the Player wasn't opened, it is. f must not call
// the Player.
func (p *Player) Transact(f func(*Tx) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.engine == nil {
		return errors.New("a tape can't be written to: want a Player of an Engine")
	}
	at := p.position(p.clock.Now())
	if err := p.forward(context.Background(), at); err != nil {
		return err
	}
	tx := &Tx{player: p, at: at}
	defer func() { tx.player = nil }()
	defer p.awake() // what is due has changed
	return f(tx)
}
