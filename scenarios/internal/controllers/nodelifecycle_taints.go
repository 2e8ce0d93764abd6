package controllers

import "github.com/nodesim/nodesim/scenarios/internal/kube"

// conditionTaints are the taints that keep pods from a node in a condition.
var conditionTaints = [...]struct{ kind, status, key string }{
	{"Ready", "False", "node.kubernetes.io/not-ready"},
	{"Ready", "Unknown", "node.kubernetes.io/unreachable"},
	{"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
	{"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
	{"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
	{"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
}

const unschedulableTaint = "node.kubernetes.io/unschedulable"

// taintsOf returns the keys of the taints that a node's conditions ask for, in the order of the conditions, and that
// of a cordon after them.
func taintsOf(n *kube.Node, keys []string) []string {
	for i := range n.Conditions {
		for _, t := range conditionTaints {
			if t.kind == n.Conditions[i].Type && t.status == n.Conditions[i].Status {
				keys = append(keys, t.key)
			}
		}
	}
	if n.Unschedulable {
		keys = append(keys, unschedulableTaint)
	}
	return keys
}

// ofCondition reports whether a taint is one that the controller keeps.
func ofCondition(t *kube.Taint) bool {
	if t.Effect != "NoSchedule" {
		return false
	}
	if t.Key == unschedulableTaint {
		return true
	}
	for _, c := range conditionTaints {
		if c.key == t.Key {
			return true
		}
	}
	return false
}

func needsTaints(n *kube.Node) bool {
	var room [8]string
	want := taintsOf(n, room[:0])
	has := 0
	for i := range n.Taints {
		if ofCondition(&n.Taints[i]) {
			has++
		}
	}
	if has != len(want) {
		return true
	}
	for _, key := range want {
		if !n.HasTaint(key, "NoSchedule") {
			return true
		}
	}
	return false
}

// taint is doNoScheduleTaintingPass: taints are added in one write and removed
// in another (SwapNodeControllerTaint).
func (c *NodeLifecycle) taint(n *kube.Node) {
	var room [8]string
	want := taintsOf(n, room[:0])
	now := c.env.API.Now().Second()
	c.env.API.UpdateNode(n, func(n *kube.Node) {
		for _, key := range want {
			n.AddTaint(kube.Taint{Key: key, Effect: "NoSchedule", Added: now})
		}
	})
	c.env.API.UpdateNode(n, func(n *kube.Node) {
		for _, t := range n.Taints {
			if ofCondition(&t) && !wanted(want, t.Key) {
				n.RemoveTaint(t.Key, t.Effect)
			}
		}
	})
}

func wanted(keys []string, key string) bool {
	for _, k := range keys {
		if k == key {
			return true
		}
	}
	return false
}

// reconciledLabels are labels of old, which follow those of today.
var reconciledLabels = [...]struct{ of, label string }{
	{"kubernetes.io/os", "beta.kubernetes.io/os"},
	{"kubernetes.io/arch", "beta.kubernetes.io/arch"},
}

func needsLabels(n *kube.Node) bool {
	for _, l := range reconciledLabels {
		if value, ok := n.Labels.Lookup(l.of); ok {
			if old, ok := n.Labels.Lookup(l.label); !ok || old != value {
				return true
			}
		}
	}
	return false
}

// label is reconcileNodeLabels.
func (c *NodeLifecycle) label(n *kube.Node) {
	c.env.API.UpdateNode(n, func(n *kube.Node) {
		for _, l := range reconciledLabels {
			if value, ok := n.Labels.Lookup(l.of); ok {
				n.Labels = n.Labels.With(l.label, value)
			}
		}
	})
}
