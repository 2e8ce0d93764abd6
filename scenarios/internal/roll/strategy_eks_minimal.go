package roll

import (
	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// eksMinimal is the update of a managed node group with the strategy MINIMAL, for
// groups whose instances are scarce: old nodes are drained and terminated first,
// maxUnavailable at a time, and the Auto Scaling group launches new ones in
// their place. So it never has more nodes than its size, and a node is cordoned
// only when its own drain begins.
type eksMinimal struct{ eks }

// EKSMinimal is the strategy MINIMAL.
func EKSMinimal(b Base) Strategy { return eksMinimal{eks{b}} }

func (s eksMinimal) Options(cycle.Cluster) (cycle.Options, bool) {
	n := min(max(1, s.cfg.MaxUnavailable), s.cfg.Size)
	return cycle.Options{
		TargetSize: s.cfg.Size, MaxSurge: cycle.AtMost(0), MaxUnavailable: cycle.AtMost(n), MaxDraining: cycle.AtMost(n),
	}, true
}

func (s eksMinimal) Drain(_ *cloud.Instance, n *kube.Node, done func(error)) {
	s.retire(n)
	s.drains.Drain(n, s.eviction(), done)
}

// Remove has the Auto Scaling group replace the instance.
func (s eksMinimal) Remove(i *cloud.Instance, _ *kube.Node) { s.env.Cloud.Terminate(i, false) }

// eks holds what the strategies of managed node groups have in common.
type eks struct{ Base }

const legacyNodeGroupTaint = "eks.amazonaws.com/nodegroup"

// retire takes an old node out of the scheduler's hands and of the load
// balancers' ("Upgrade phase" in the EKS user guide; the taint is that of its
// older editions).
func (s eks) retire(n *kube.Node) {
	s.cordon(n, excludeBalancers, "true")
	if s.cfg.LegacyTaint {
		s.taint(n, kube.Taint{Key: legacyNodeGroupTaint, Value: "unschedulable", Effect: "NoSchedule"})
	}
}

// Restore takes retire back.
func (s eks) Restore(n *kube.Node) {
	s.uncordon(n, excludeBalancers)
	s.untaint(n, legacyNodeGroupTaint)
}

// Says what the update's errors say (eks.UpdateError, as operators quote them).
func (s eks) Says(f Failure, _ string) string {
	if f == Undrained {
		return "Reached max retries while trying to evict pods from nodes in node group " + s.cfg.Group.Name
	}
	return "Couldn't proceed with upgrade process as new nodes are not joining node group " + s.cfg.Group.Name
}
