package render

import "github.com/nodesim/nodesim/noderoll"

// replaced is the number of nodes, of those the roll began with, that are gone: desired
// less the nodes that are still off target, never below zero.
func replaced(desired, off int) int { return max(0, max(0, desired)-off) }

// Evicted is the number of pods that have left a draining node, never below zero nor
// above their total.
func Evicted(n noderoll.NodeView) int {
	total := max(0, n.PodsTotal)
	return total - min(total, max(0, n.Pods))
}

// counts are taken from the nodes and not from the snapshot's own numbers, so
// that a panel agrees with itself whatever made the snapshot.
type counts struct {
	total, off                                int
	readyNew, readyOld                        int
	joining, draining, notReady, unknownPhase int
	cordoned                                  int // nobody drains them yet; not among draining
}

func count(nodes []noderoll.NodeView) counts {
	var c counts
	for i := range nodes {
		c.add(&nodes[i])
	}
	return c
}

func (c *counts) add(n *noderoll.NodeView) {
	c.total++
	if !n.OnTarget {
		c.off++
	}
	switch n.Phase {
	case noderoll.PhaseReady:
		if n.OnTarget {
			c.readyNew++
		} else {
			c.readyOld++
		}
	case noderoll.PhaseJoining:
		c.joining++
	case noderoll.PhaseDraining:
		if n.Cordoned {
			c.cordoned++
		} else {
			c.draining++
		}
	case noderoll.PhaseNotReady:
		c.notReady++
	default:
		c.unknownPhase++
	}
}
