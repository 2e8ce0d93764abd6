package scheduler

import (
	"math"

	"github.com/nodesim/nodesim/scenarios/internal/component"
)

// leastAllocated is the score of NodeResourcesFit: the more is left of CPU and memory, the better
// (leastResourceScorer of pkg/scheduler/framework/plugins/noderesources/least_allocated.go).
func leastAllocated(n *schedNode, c *podClass) int64 {
	score, resources := int64(0), int64(0)
	for _, of := range [...]struct{ all, used int64 }{
		{n.allocatable.CPU, n.scored.CPU + c.sought.CPU}, {n.allocatable.Memory, n.scored.Memory + c.sought.Memory},
	} {
		if of.all == 0 {
			continue
		}
		resources++
		if of.used <= of.all {
			score += (of.all - of.used) * 100 / of.all
		}
	}
	return score / max(resources, 1)
}

// balanceGained is the score of NodeResourcesBalancedAllocation: since 1.36 it isn't how evenly CPU and memory are used
// with the pod, but how much more evenly than without (kubernetes/kubernetes#135573). A pod that asks for nothing has none.
func balanceGained(n *schedNode, c *podClass) int64 {
	if c.need.CPU == 0 && c.need.Memory == 0 {
		return 0
	}
	used := n.used.Minus(n.kept)
	return 50 + (50+balance(used.Plus(c.need), n.allocatable)-balance(used, n.allocatable))/2
}

// balance is from 50 to 100: of two fractions the deviation is half their distance (balancedResourceScore of
// noderesources/balanced_allocation.go). It divides and subtracts alone, which all processors do alike.
func balance(used, all component.Room) int64 {
	if all.CPU == 0 || all.Memory == 0 {
		return 100
	}
	cpu := min(float64(used.CPU)/float64(all.CPU), 1)
	memory := min(float64(used.Memory)/float64(all.Memory), 1)
	even := 1 - math.Abs(cpu-memory)/2
	return int64(float64(even) * 100)
}
