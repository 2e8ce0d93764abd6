package api

import "slices"

// A NodePhase is a step in the life of a node.
type NodePhase string

// The phases of a node, in the order of a life.
const (
	NodeCreating    NodePhase = "Creating"    // ordered; the cloud may not have answered yet
	NodeCreated     NodePhase = "Created"     // the cloud gave it an instance id
	NodeAvailable   NodePhase = "Available"   // its agent answers; it may be handed out
	NodeClaimed     NodePhase = "Claimed"     // a pod has it
	NodeCleaning    NodePhase = "Cleaning"    // a pod had it, its log is being saved
	NodeTerminating NodePhase = "Terminating" // the instance is being stopped
	NodeTerminated  NodePhase = "Terminated"  // the instance is gone
)

// next lists the phases that may follow each. A Claimed node may go back to Available: a pod that was given a node and
// never started on it leaves it as good as new.
var next = map[NodePhase][]NodePhase{
	NodeCreating:    {NodeCreating, NodeCreated, NodeAvailable, NodeTerminating, NodeTerminated},
	NodeCreated:     {NodeCreated, NodeAvailable, NodeCleaning, NodeTerminating, NodeTerminated},
	NodeAvailable:   {NodeAvailable, NodeClaimed, NodeTerminating, NodeTerminated},
	NodeClaimed:     {NodeClaimed, NodeAvailable, NodeCleaning, NodeTerminating, NodeTerminated},
	NodeCleaning:    {NodeAvailable, NodeCleaning, NodeTerminating, NodeTerminated},
	NodeTerminating: {NodeTerminating, NodeTerminated},
	NodeTerminated:  {NodeTerminated},
}

// MayBecome says whether a node in phase p may be saved in phase q next.
func (p NodePhase) MayBecome(q NodePhase) bool { return slices.Contains(next[p], q) }

// Successors returns the phases that may follow p, for messages. It is empty for a phase that doesn't exist.
func (p NodePhase) Successors() []NodePhase { return slices.Clone(next[p]) }

// Usable says whether a node in this phase is, or will be, free for a pod.
func (p NodePhase) Usable() bool {
	return p == NodeCreating || p == NodeCreated || p == NodeAvailable
}
