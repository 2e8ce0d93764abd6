package simcluster

import (
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Do has a fault of a scenario file happen now, such as
//
//	c.Do(spec.Fault{KubeletDown: &spec.Down{Victims: spec.Victims{Node: name}, For: time.Minute}})
//
// docs/scenarios.md lists them. What is zero has the default that it has in a
// file, but for truth values; there is no trigger. A fault that would hit nothing
// is an error. Which nodes it hits, where it doesn't name one, is drawn.
func (c *Cluster) Do(f spec.Fault) error {
	if err := c.player.Transact(func(*replay.Tx) error { return c.engine.Do(&f) }); err != nil {
		return err
	}
	return c.player.Transact(func(*replay.Tx) error { return nil }) // shows what follows at once
}

// Interrupt gives the machine of a node the notice of a spot interruption: the
// provider takes it back two minutes later. Its group has to be of the capacity
// type SPOT.
func (c *Cluster) Interrupt(node string) error {
	return c.Do(spec.Fault{SpotInterruption: &spec.SpotInterruption{Victims: spec.Victims{Node: node}}})
}

// Vanish ends the machine of a node without a word.
func (c *Cluster) Vanish(node string) error {
	return c.Do(spec.Fault{Vanish: &spec.Vanish{Victims: spec.Victims{Node: node}, Terminated: true}})
}

// Lose cuts a zone off for good: its nodes fall silent, and no others start there.
func (c *Cluster) Lose(zone string) error {
	return c.Do(spec.Fault{ZoneOutage: &spec.ZoneOutage{Zone: zone}})
}
