package render

import "github.com/nodesim/nodesim/noderoll"

// Replaced is how many of the nodes that the roll began with are gone: desired
// less the nodes that are still off target, never below zero.
func Replaced(desired int, s noderoll.Snapshot) int { return replaced(desired, count(s.Nodes).off) }

func replaced(desired, off int) int { return max(0, max(0, desired)-off) }

// Evicted is how many pods have left a draining node, never below zero nor
// above their total.
func Evicted(n noderoll.NodeView) int {
	total := max(0, n.PodsTotal)
	return total - min(total, max(0, n.Pods))
}

// counts are taken from the nodes and not from the snapshot's own numbers, so
// that a panel agrees with itself whoever made the snapshot.
type counts struct {
	total, off                                int
	readyNew, readyOld                        int
	joining, draining, notReady, unknownPhase int
}

func count(nodes []noderoll.NodeView) counts {
	c := counts{total: len(nodes)}
	for i := range nodes {
		n := &nodes[i]
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
			c.draining++
		case noderoll.PhaseNotReady:
			c.notReady++
		default:
			c.unknownPhase++
		}
	}
	return c
}
