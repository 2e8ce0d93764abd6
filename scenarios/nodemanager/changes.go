package nodemanager

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// A Planner decides like a ScalingAlgorithm, touches nothing, and says what it can't decide.
type Planner interface {
	Plan(nodes []*api.Node, pods []*api.Pod, now time.Time) (Changes, error)
}

// Changes are what has to be done, in the order Update, Start, Stop. No node in it is shared with the planner's input.
// The caller decides what a failure means; Publish says which bindings are left then.
type Changes struct {
	// Start are new nodes in phase Creating: first those of waiting pods (BoundPodName says whose) in the order of the
	// pods, then those of standby pools in the order of the pools.
	Start []*api.Node
	// Stop are nodes that nobody needs, by name, as they will be after Update.
	Stop []*api.Node
	// Update are nodes whose BoundPodName or IdleSince changes, by name. Nothing else of them differs.
	Update []*api.Node
	// Bindings maps waiting pods to nodes, old and new ones.
	Bindings map[string]string
	// Unmet are the waiting pods that get no node now, in the order of the pods; LimitBoots appends its own.
	Unmet []Unmet
}

// Unmet is a pod without a node, and why.
type Unmet struct {
	Pod    string
	Reason UnmetReason
}

// UnmetReason says why a pod gets no node.
type UnmetReason string

// The reasons.
const (
	// CloudUnavailable: the cloud refused such a node recently.
	CloudUnavailable UnmetReason = "Unavailable"
	// BootLimit: as many nodes as are allowed at once are started for others.
	BootLimit UnmetReason = "BootLimit"
)

// LimitBoots keeps at most limit of the nodes to start, chosen at random so that a kind that never boots can't hold up
// the others; nodes of pods before standby nodes. Their order stays. The pods of nodes left out lose their bindings and
// are unmet. A limit below zero is no limit; without a random source the first ones are kept.
func (c Changes) LimitBoots(limit int, chance *rand.Rand) Changes {
	if limit < 0 || len(c.Start) <= limit {
		return c
	}
	order := make([]int, len(c.Start))
	for i := range order {
		order[i] = i
	}
	if chance != nil {
		order = chance.Perm(len(c.Start))
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return rank(c.Start[a]) - rank(c.Start[b])
	})
	chosen := make([]bool, len(c.Start))
	for _, i := range order[:limit] {
		chosen[i] = true
	}
	start := make([]*api.Node, 0, limit)
	c.Bindings = maps.Clone(c.Bindings)
	c.Unmet = slices.Clone(c.Unmet)
	for i, node := range c.Start {
		switch pod := node.Status.BoundPodName; {
		case chosen[i]:
			start = append(start, node)
		case pod != "":
			delete(c.Bindings, pod)
			c.Unmet = append(c.Unmet, Unmet{Pod: pod, Reason: BootLimit})
		}
	}
	c.Start = start
	return c
}

// rank puts nodes of pods before standby nodes.
func rank(node *api.Node) int {
	if node.Status.BoundPodName == "" {
		return 1
	}
	return 0
}

// Publish returns the bindings that may be told to others: all but those to nodes of Start that weren't created. The
// map is the caller's, and never nil.
func (c Changes) Publish(created func(node string) bool) map[string]string {
	published := make(map[string]string, len(c.Bindings))
	maps.Copy(published, c.Bindings)
	for _, node := range c.Start {
		if !created(node.Name) && published[node.Status.BoundPodName] == node.Name {
			delete(published, node.Status.BoundPodName)
		}
	}
	return published
}
