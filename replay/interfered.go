package replay

import (
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// Admit asks the Interferer about a request that the Cluster doesn't answer
// itself: a write. Get, List and Watch ask by themselves.
func (c *Cluster) Admit(r Request) error { return c.ask(r).Err }

func (c *Cluster) ask(r Request) Answer {
	if c.interferer == nil {
		return Answer{}
	}
	a := c.interferer.Request(r)
	if a.Err != nil {
		c.refused.Add(1)
	}
	return a
}

// Interfered reports whether an Interferer is between.
func (c *Cluster) Interfered() bool { return c.interferer != nil }

// Refusals counts the requests that the Interferer has answered with an error:
// a caller in lock-step needn't wait for a client that was sent away.
func (c *Cluster) Refusals() int64 { return c.refused.Load() }

// Pass lets the tape's time pass to a position without an event, for what an
// Interferer does then. It doesn't move At.
func (c *Cluster) Pass(at time.Duration) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pass(at)
}

func (c *Cluster) pass(to time.Duration) (changed bool) {
	if c.interferer == nil {
		return false
	}
	if to == End {
		return c.signal(c.interferer.Pass(End))
	}
	for {
		at, ok := c.interferer.Due()
		if !ok || at > to {
			return changed
		}
		changed = c.signal(c.interferer.Pass(at)) || changed
	}
}

// due is when the Interferer wants time to pass.
func (c *Cluster) due() (at time.Duration, ok bool) {
	if c.interferer == nil {
		return 0, false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.interferer.Due()
}

func (c *Cluster) signal(signals []Signal) (some bool) {
	for _, s := range signals {
		for _, k := range c.kinds {
			if k.resource == s.Resource {
				k.log.signal(s.Value)
				k.wake()
				some = true
			}
		}
	}
	return some
}

// interfere applies an event as the Interferer wants it.
func (c *Cluster) interfere(ev timeline.Event) (changed bool, err error) {
	change := Change{Event: ev, Live: true}
	if k := c.named(ev.Resource); k != nil {
		change.Live = k.phase == live || k.phase == fresh && ev.Type != timeline.Added && ev.Type != timeline.Sync
		change.Version = k.version(c.base)
	}
	effect := c.interferer.Before(change)
	changed = c.signal(effect.Ahead)
	if effect.Events == nil {
		effect.Events = []timeline.Event{ev}
	}
	for _, e := range effect.Events {
		did, err := c.one(e)
		changed = changed || did
		if err != nil {
			return changed, err
		}
	}
	return c.signal(effect.Behind) || changed, nil
}
