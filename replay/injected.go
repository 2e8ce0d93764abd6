package replay

import (
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// Admit asks the FaultInjector about a request that the Cluster doesn't answer
// itself: a write. Get, List and Watch ask by themselves.
func (c *Cluster) Admit(r Request) error { return c.ask(r).Err }

func (c *Cluster) ask(r Request) Verdict {
	if c.faultInjector == nil {
		return Verdict{}
	}
	a := c.faultInjector.Request(r)
	if a.Err != nil {
		c.refused.Add(1)
	}
	return a
}

// HasFaultInjector reports whether a FaultInjector is between.
func (c *Cluster) HasFaultInjector() bool { return c.faultInjector != nil }

// Refusals counts the requests that the FaultInjector has answered with an error:
// a caller in lock-step needn't wait for a client that was sent away.
func (c *Cluster) Refusals() int64 { return c.refused.Load() }

// Pass lets the tape's time pass to a position without an event, for what an
// FaultInjector does then. It doesn't move At.
func (c *Cluster) Pass(at time.Duration) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pass(at)
}

func (c *Cluster) pass(to time.Duration) (changed bool) {
	if c.faultInjector == nil {
		return false
	}
	if to == End {
		return c.signal(c.faultInjector.Pass(End))
	}
	for {
		at, ok := c.faultInjector.Due()
		if !ok || at > to {
			return changed
		}
		changed = c.signal(c.faultInjector.Pass(at)) || changed
	}
}

// due is when the FaultInjector wants time to pass.
func (c *Cluster) due() (at time.Duration, ok bool) {
	if c.faultInjector == nil {
		return 0, false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.faultInjector.Due()
}

func (c *Cluster) signal(signals []StreamMarker) (some bool) {
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

// applyInjected applies an event as the FaultInjector wants it.
func (c *Cluster) applyInjected(ev timeline.Event) (changed bool, err error) {
	change := Change{Event: ev, Live: true}
	if k := c.named(ev.Resource); k != nil {
		change.Live = k.phase == live || k.phase == fresh && ev.Type != timeline.Added && ev.Type != timeline.Sync
		change.Version = k.version(c.base)
	}
	effect := c.faultInjector.Before(change)
	changed = c.signal(effect.Before)
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
	return c.signal(effect.After) || changed, nil
}
