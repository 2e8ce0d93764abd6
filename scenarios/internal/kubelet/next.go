package kubelet

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// A NextNode is what the next node of a group is like once it has joined, for what launches it.
type NextNode struct {
	Labels kube.Pairs
	Taints []kube.Taint
	Room   component.Room // allocatable
	// Allocatable is all that is, further resources among it.
	Allocatable kube.Pairs
}

// Next returns what the next node of a group is like in a zone. It depends on the group's template.
func (c *Config) Next(g *cloud.Group, zone string, chance model.Stream) NextNode {
	i := &cloud.Instance{Zone: zone, Group: g, Template: g.Template}
	shape := c.Shape(i).Node(c.Place(i), &chance)
	size := shape.Allocatable
	if c.Profile == Kwok {
		size = shape.Capacity
	}
	n := NextNode{
		Labels:      Pairs(shape.AllLabels()).With(component.LabelZone, zone),
		Allocatable: Pairs(size.Allocatable()),
		Room:        component.Room{CPU: size.MilliCPU, Memory: size.MemoryBytes, Pods: size.Pods},
	}
	for _, t := range shape.Taints {
		if !IsStartupTaint(t.Key) {
			n.Taints = append(n.Taints, kube.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
		}
	}
	return n
}

// startupTaints vanish while a node joins.
var startupTaints = []string{
	component.TaintUninitialized, component.TaintNotReady, "karpenter.sh/unregistered", "node.cluster.x-k8s.io/uninitialized",
	"node.kubernetes.io/network-unavailable",
}

// IsStartupTaint reports whether a taint is one that vanishes while a node joins.
func IsStartupTaint(key string) bool { return slices.Contains(startupTaints, key) }
