package noderoll

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// A node of PhaseDraining is cordoned until something shows that somebody drains
// it. That is, of what objects show:
//
//   - an eviction of one of its pods: a deletion timestamp beside the condition
//     DisruptionTarget with reason EvictionByEvictionAPI, which the API server sets
//     before it deletes (pkg/registry/core/pod/storage/eviction.go of Kubernetes);
//   - a deletion of one of its pods that begins while the node is cordoned, without
//     another reason for it in that condition: kubectl drain --disable-eviction and
//     forced drains delete so. The taint manager, the pod garbage collector, the
//     scheduler and the kubelet say in the condition that it was they;
//   - a drainer's own mark on the node, see drainMark;
//   - an Event by which a drainer says that it begins, see EventRecord.drains;
//   - a condition of the node's Machine or NodeClaim, see Machine.
//
// Nothing takes it back but an uncordon.

// evictedByAPI is the reason of DisruptionTarget on a pod that was evicted
// (policy/v1 has no constant for it; eviction.go writes it so).
const evictedByAPI = "EvictionByEvictionAPI"

// evicted reports whether the pod is on its way out because it was evicted.
func (p *Pod) evicted() bool { return p.Deleting && p.Disruption == evictedByAPI && p.Evictable() }

// drainMark reports whether a node carries the mark of a drainer at work:
// cluster-autoscaler taints a node when it begins to drain it
// (ToBeDeletedByClusterAutoscaler, utils/taints/taints.go), and Karpenter drains
// a node that is disrupted from its deletion on, which the finalizer
// karpenter.sh/termination holds up (node/termination/controller.go).
func drainMark(n *Node) bool {
	if slices.ContainsFunc(n.TaintKeys, ScaleDownTaint) {
		return true
	}
	return n.Deleting && (slices.Contains(n.TaintKeys, "karpenter.sh/disrupted") || slices.Contains(n.TaintKeys, "karpenter.sh/disruption"))
}

// drains reports whether the Event says that the drain of its node begins, or
// goes on: AKS' upgrader (Normal Drain, "Draining node: …"), Karpenter (Warning
// FailedDraining).
func (r *EventRecord) drains() bool {
	return r.Kind == "Node" && (r.Reason == "Drain" && r.Type == corev1.EventTypeNormal || r.Reason == "FailedDraining")
}

// drains notes that somebody drains a node.
func (s *State) drains(rec *nodeRec) {
	if rec.drained || rec.view.Phase != PhaseDraining {
		return
	}
	was := rec.view
	rec.drained, rec.view.Cordoned = true, false
	s.recount(rec, &was, true)
}

// nodeDrains is drains by an Event's node.
func (s *State) nodeDrains(name string) {
	if rec := s.nodes[name]; rec != nil && rec.present {
		s.drains(rec)
	}
}

// A group that is scaled down loses nodes that nothing replaces. Two controllers say that this is what they do:
//
//   - cluster-autoscaler by the taint of the nodes that it takes (ToBeDeletedTaint, utils/taints/taints.go);
//   - Karpenter by the condition DisruptionReason of a node's NodeClaim (pkg/apis/v1/nodeclaim_status.go, set by
//     pkg/controllers/disruption/queue.go), which names the reason of the disruption (pkg/apis/v1/nodepool.go).
//
// A node that was cordoned before cluster-autoscaler's taint is drained by somebody else: the autoscaler only takes what
// is empty then.

// ScaleDownTaint reports whether the key of a taint says that its node is taken because it isn't needed.
func ScaleDownTaint(key string) bool { return strings.HasPrefix(key, "ToBeDeletedByClusterAutoscaler") }

// ScalesDown reports whether a NodeClaim says that its node is taken because it isn't needed: it is empty, or its pods
// fit on other nodes, or on one that costs less.
func (m *Machine) ScalesDown() bool {
	c := m.condition("DisruptionReason")
	return m.Kind == kindNodeClaim && c.Status == "True" && (c.Reason == "Empty" || c.Reason == "Underutilized")
}

// judgeScaleDown notes whether a node that is leaving is taken because it isn't needed.
func (s *State) judgeScaleDown(rec *nodeRec) {
	leaves := rec.view.Phase == PhaseDraining
	rec.unclaimed = rec.unclaimed && leaves
	is := leaves && (rec.surplus || rec.unclaimed || s.scaleDowns[rec.name] > 0)
	if is == rec.scalesDown {
		return
	}
	rec.scalesDown = is
	if is {
		rec.pool.scalesDown++
	} else {
		rec.pool.scalesDown--
	}
	s.notePool(rec.pool)
}

// machineScalesDown counts the machines (by 1 or -1) that say so of a node; gone says that the machine is. Its node may
// be seen to go after it.
func (s *State) machineScalesDown(node string, by int, gone bool) {
	if s.scaleDowns[node] += by; s.scaleDowns[node] == 0 {
		delete(s.scaleDowns, node)
	}
	if rec := s.nodes[node]; rec != nil && rec.present {
		rec.unclaimed = rec.unclaimed || gone
		s.judgeScaleDown(rec)
	}
}
