package roll

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// A Strategy rolls a group as one provider does. The roller asks it for the bounds of the next plan, and lets it
// execute the plan's steps. [Base] has the plainest implementation of each method; strategies embed it and override
// some.
type Strategy interface {
	// Begin is called when the roll begins, and again when it goes back.
	Begin()
	// Options are the bounds and rules of the next plan. done says that the
	// strategy has nothing more to do once the plan is finished.
	Options(c cycle.Cluster) (o cycle.Options, done bool)
	// Waits reports whether the roll waits for new nodes, so that it fails where
	// none comes.
	Waits(c cycle.Cluster) bool
	// Start launches instances of the new template.
	Start(count int)
	// Drain empties a node, and calls done when that is over, with nil or a
	// *Stuck.
	Drain(i *cloud.Instance, n *kube.Node, done func(error))
	// Skips reports whether the roll continues without a node that it couldn't drain.
	Skips(i *cloud.Instance, n *kube.Node) bool
	// Remove ends a drained instance, or one that isn't wanted and never had a
	// node; then n is nil.
	Remove(i *cloud.Instance, n *kube.Node)
	// Restore takes back what the roll did to a node that shall stay after all.
	Restore(n *kube.Node)
	// Says returns a sentence for a failure; node is that which couldn't be
	// drained.
	Says(f Failure, node string) string
	// Failed is called when the roll has failed, before it is marked.
	Failed()
}

// A Failure is why a roll failed.
type Failure string

// The failures of a roll.
const (
	Undrained Failure = "PodEvictionFailure"
	Unjoined  Failure = "NodeCreationFailure"
)

// Base is the plain way: launch through the group's size, cordon, evict,
// terminate.
type Base struct {
	*Roller
}

// Begin does nothing.
func (b Base) Begin() {}

// Failed does nothing.
func (b Base) Failed() {}

// Options replace MaxSurge and MaxUnavailable nodes at a time.
func (b Base) Options(cycle.Cluster) (cycle.Options, bool) {
	surge, unavailable := b.cfg.MaxSurge, b.cfg.MaxUnavailable
	if surge+unavailable == 0 {
		surge = 1
	}
	return cycle.Options{
		TargetSize: b.cfg.Size, MaxSurge: cycle.AtMost(surge), MaxUnavailable: cycle.AtMost(min(unavailable, b.cfg.Size)),
		MaxDraining: cycle.AtMost(surge + unavailable),
	}, true
}

// Waits reports whether a new node doesn't serve yet.
func (b Base) Waits(c cycle.Cluster) bool {
	for i := range c.Instances {
		in := &c.Instances[i]
		if in.State == cycle.Starting || in.Config == c.Config && in.State == cycle.Started && !b.ready(in.ID) {
			return true
		}
	}
	return false
}

// Start raises the group's desired size.
func (b Base) Start(count int) {
	g := b.cfg.Group
	b.env.Cloud.SetDesired(g, g.Desired+count)
}

// Drain cordons the node and evicts.
func (b Base) Drain(_ *cloud.Instance, n *kube.Node, done func(error)) {
	b.cordon(n, "", "")
	b.drains.Drain(n, b.eviction(), done)
}

func (b Base) eviction() Drain {
	return Drain{Retry: b.env.Timings.EvictionRetry, Timeout: b.cfg.EvictionTimeout, Force: b.cfg.Force}
}

// Skips is never.
func (b Base) Skips(*cloud.Instance, *kube.Node) bool { return false }

// Remove terminates the instance; the cloud's controllers delete the Node.
func (b Base) Remove(i *cloud.Instance, _ *kube.Node) { b.env.Cloud.Terminate(i, true) }

// Restore uncordons.
func (b Base) Restore(n *kube.Node) { b.uncordon(n, "") }

// Says what went wrong in plain words.
func (b Base) Says(f Failure, node string) string {
	if f == Undrained {
		return fmt.Sprintf("the drain of node %s did not end within %s", node, b.cfg.EvictionTimeout)
	}
	return fmt.Sprintf("no new node of %s became ready within %s", b.cfg.Group.Name, b.cfg.JoinTimeout)
}
