package roll

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
)

// A Strategy is how a provider rolls a group. The roller asks it for the bounds
// of the next plan, and lets it perform the plan's steps. [Base] is the plainest
// answer to everything; strategies embed it and answer what they know better.
type Strategy interface {
	// Begin is called once, when the roll begins.
	Begin()
	// Options are the bounds and rules of the next plan. done says that the
	// strategy has nothing more to do once the plan is finished.
	Options(c cycle.Cluster) (o cycle.Options, done bool)
	// Start launches instances of the new template.
	Start(count int)
	// Drain empties a node, and calls done when that is over.
	Drain(i *cloud.Instance, n *api.Node, done func(error))
	// Remove ends a drained instance.
	Remove(i *cloud.Instance, n *api.Node)
	// Failed is called when the roll has failed, before it is marked.
	Failed(code, reason string)
}

// Config is what a roll is to do. What a strategy has no use for it ignores.
type Config struct {
	Group    *cloud.Group
	From, To cloud.Template
	// Size is how many nodes the group shall have in the end.
	Size int
	At   time.Duration

	MaxUnavailable, MaxSurge, Budget int
	Force, LegacyTaint, Rollback     bool
	EvictionTimeout, JoinTimeout     time.Duration
	Settle, Soak                     time.Duration
	// RollbackAt is how many nodes are replaced when the roll is cancelled and
	// goes back; StopAfter how many when it stalls. 0 is never.
	RollbackAt, StopAfter int
	// Provider is what the provider's own controllers need to know.
	Provider Provider
}

// Provider is what strategies of Kubernetes-native rollers need.
type Provider struct {
	Cluster string
	// Identify completes the name of the node that an instance will have. Nil
	// where the cloud does.
	NodeClass string
}

// Outcome is how a roll ended.
type Outcome struct {
	Failed bool
	Code   string // such as PodEvictionFailure
	Reason string // one sentence for people
}

// Base is the plain way: launch through the group's size, cordon, evict,
// terminate.
type Base struct {
	*Roller
}

// Begin does nothing.
func (b Base) Begin() {}

// Failed does nothing.
func (b Base) Failed(string, string) {}

// Options replace MaxSurge nodes at a time, or MaxUnavailable.
func (b Base) Options(cycle.Cluster) (cycle.Options, bool) {
	return cycle.Options{
		TargetSize: b.cfg.Size, MaxSurge: cycle.AtMost(b.cfg.MaxSurge), MaxUnavailable: cycle.AtMost(b.cfg.MaxUnavailable),
		MaxDraining: cycle.AtMost(max(b.cfg.MaxSurge, b.cfg.MaxUnavailable)),
	}, true
}

// Start raises the group's desired size.
func (b Base) Start(count int) {
	g := b.cfg.Group
	b.env.Cloud.SetDesired(g, g.Desired+count)
}

// Drain cordons the node and evicts.
func (b Base) Drain(i *cloud.Instance, n *api.Node, done func(error)) {
	b.cordon(n, "", "")
	b.drainNode(n, b.eviction(), done)
}

func (b Base) eviction() Drain {
	return Drain{Retry: b.env.Timings.EvictionRetry, Timeout: b.cfg.EvictionTimeout, Force: b.cfg.Force}
}

// Remove terminates the instance; the cloud's controllers delete the Node.
func (b Base) Remove(i *cloud.Instance, n *api.Node) { b.env.Cloud.Terminate(i, true) }
