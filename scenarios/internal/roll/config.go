package roll

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/model"
)

// Config is what a roll is to do. What a strategy has no use for it ignores.
type Config struct {
	Group *cloud.Group
	// From is what the group's nodes run, To what they shall run.
	From, To cloud.Template
	// Size is how many nodes the group shall have in the end.
	Size int
	// At is when the roll begins; a negative one waits for [Roller.Begin].
	At time.Duration

	// MaxUnavailable, MaxSurge and Budget are counts of nodes: whoever has
	// percentages has worked them out.
	MaxUnavailable, MaxSurge, Budget int
	// Force deletes what a drain has left when EvictionTimeout is over.
	Force bool
	// LegacyTaint has EKS taint old nodes as it did before it cordoned them.
	LegacyTaint bool
	// Rollback goes back to From where the roll fails.
	Rollback bool
	// Quarantine lets AKS pass over a node that can't be drained instead of
	// failing (undrainableNodeBehavior: Cordon).
	Quarantine bool
	// EvictionTimeout is how long a drain may take, JoinTimeout how long nobody
	// joins until the roll has failed; 0 is for ever.
	EvictionTimeout, JoinTimeout time.Duration
	// Settle is between the end of a drain and the end of the machine, Soak what
	// the strategy waits for in the end.
	Settle, Soak time.Duration
	// RollbackAt is how many nodes are replaced when the roll is cancelled and
	// goes back; StopAfter how many when it stalls. 0 is never.
	RollbackAt, StopAfter int
}

// Shapes returns the node of an instance as its provider makes it: where the
// labels and annotations are known from that the provider's own controllers put
// on a node.
type Shapes func(*cloud.Instance) model.NodeShape

// Outcome is how a roll ended.
type Outcome struct {
	Failed bool
	Code   string // PodEvictionFailure, NodeCreationFailure, Cancelled or InvalidParameterException
	Reason string // one sentence for people
}
