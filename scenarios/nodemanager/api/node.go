package api

import (
	"slices"
	"time"
)

// NodeSpec is what a node was ordered as. Only Terminate and the zone change later: the one says that the node has to
// go, the other is filled in with the cloud's choice.
type NodeSpec struct {
	InstanceType string        `json:"instanceType"`
	BootImage    string        `json:"bootImage,omitempty"`
	Terminate    bool          `json:"terminate,omitempty"`
	Spot         bool          `json:"spot,omitempty"`
	Resources    ResourceSpec  `json:"resources,omitzero"`
	Placement    PlacementSpec `json:"placement,omitzero"`
}

// NodeStatus is where a node stands.
type NodeStatus struct {
	Phase        NodePhase        `json:"phase,omitempty"`
	InstanceID   string           `json:"instanceID,omitempty"`
	Addresses    []NetworkAddress `json:"addresses,omitempty"`
	BoundPodName string           `json:"boundPodName,omitempty"`
	// IdleSince is when a planner first found the node of no use to anybody; the zero time says that it is of use.
	IdleSince time.Time `json:"idleSince,omitzero"`
}

// A Node is a machine in the cloud, ordered, running or on its way out.
type Node struct {
	ObjectMeta `json:"metadata"`
	Spec       NodeSpec   `json:"spec"`
	Status     NodeStatus `json:"status,omitzero"`
}

// NodeList is what a listing returns, ordered by name.
type NodeList struct {
	Items []*Node `json:"items"`
}

// NewNode returns an unbound node in phase Creating. The caller answers for the name being unused.
func NewNode(name string) *Node {
	return &Node{ObjectMeta: ObjectMeta{Name: name}, Status: NodeStatus{Phase: NodeCreating}}
}

// DeepCopy returns a node that shares nothing with n.
func (n *Node) DeepCopy() *Node {
	c := *n
	c.Status.Addresses = slices.Clone(n.Status.Addresses)
	return &c
}
