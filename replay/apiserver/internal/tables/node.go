package tables

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func nodeCells(node *corev1.Node, now time.Time) []any {
	info := node.Status.NodeInfo
	kernel := cmp.Or(info.KernelVersion, unknown)
	if info.Architecture != "" {
		kernel += " (" + info.Architecture + ")"
	}
	return []any{
		node.Name, nodeStatus(node), cmp.Or(nodeRoles(node.Labels), none), since(node.CreationTimestamp, now), info.KubeletVersion,
		nodeAddress(node, corev1.NodeInternalIP), nodeAddress(node, corev1.NodeExternalIP),
		cmp.Or(info.OSImage, unknown), kernel, cmp.Or(info.ContainerRuntimeVersion, unknown),
	}
}

// nodeStatus returns what the Ready condition says, the last one where there are several, and whether the node is
// cordoned.
func nodeStatus(node *corev1.Node) string {
	status := "Unknown"
	for _, condition := range node.Status.Conditions {
		switch {
		case condition.Type != corev1.NodeReady:
		case condition.Status == corev1.ConditionTrue:
			status = "Ready"
		default:
			status = "NotReady"
		}
	}
	if node.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

// nodeRoles lists the roles that a node's labels give it, each once and sorted: those that are the end of a label's
// name, and the one that is the value of the older label.
func nodeRoles(labels map[string]string) string {
	roles := map[string]struct{}{}
	for name, value := range labels {
		role, ok := strings.CutPrefix(name, "node-role.kubernetes.io/")
		if name == "kubernetes.io/role" {
			role, ok = value, true
		}
		if ok && role != "" {
			roles[role] = struct{}{}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(roles)), ",")
}

// nodeAddress is the first address of a type.
func nodeAddress(node *corev1.Node, of corev1.NodeAddressType) string {
	for _, address := range node.Status.Addresses {
		if address.Type == of {
			return address.Address
		}
	}
	return none
}
