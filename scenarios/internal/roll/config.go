package roll

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Config describes a roll. What a strategy has no use for it ignores.
type Config struct {
	Group *cloud.Group
	// From is the template that the group's nodes run, To the one that they shall run.
	From, To cloud.Template
	// Size is the number of nodes that the group shall have in the end.
	Size int
	// At is when the roll begins; a negative one waits for [Roller.Begin].
	At time.Duration

	// MaxUnavailable, MaxSurge and Budget are counts of nodes: the caller has resolved percentages.
	MaxUnavailable, MaxSurge, Budget int
	// BudgetOf is Budget where that is a percentage of so many nodes; nil is Budget.
	BudgetOf func(nodes int) int
	// Force deletes what a drain has left when EvictionTimeout is over.
	Force bool
	// LegacyTaint has EKS taint old nodes as it did before it cordoned them.
	LegacyTaint bool
	// Rollback goes back to From where the roll fails.
	Rollback bool
	// Quarantine lets AKS pass over a node that can't be drained instead of
	// failing (undrainableNodeBehavior: Cordon).
	Quarantine bool
	// EvictionTimeout bounds a drain, JoinTimeout the time without a joining node until the roll has failed; 0 is for
	// ever.
	EvictionTimeout, JoinTimeout time.Duration
	// Settle is between the end of a drain and the end of the machine, Soak the wait of
	// the strategy: of AKS between a drain and the reimage, of GKE in the end.
	Settle, Soak time.Duration
	// RollbackAt is the number of replaced nodes at which the roll is cancelled and goes back; StopAfter how many
	// when it stalls. 0 is never.
	RollbackAt, StopAfter int
}

// Shapes returns the node of an instance as its provider makes it: where the
// labels and annotations are known from that the provider's own controllers put
// on a node.
type Shapes func(*cloud.Instance) model.NodeShape

// Outcome is the outcome of a roll.
type Outcome struct {
	Failed bool
	Code   string // PodEvictionFailure, NodeCreationFailure, Cancelled, InvalidParameterException or UnsatisfiablePDB
	Reason string // one sentence for people
}
