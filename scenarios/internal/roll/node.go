package roll

import "github.com/nodesim/nodesim/scenarios/internal/kube"

// excludeBalancers keeps a node out of load balancers (k8s.io/api/core/v1,
// LabelNodeExcludeBalancers).
const excludeBalancers = "node.kubernetes.io/exclude-from-external-load-balancers"

// cordon makes a node unschedulable; label, where given, in the same write.
func (r *Roller) cordon(n *kube.Node, label, value string) {
	r.env.API.UpdateNode(n, func(n *kube.Node) {
		n.Unschedulable = true
		if label != "" {
			n.Labels = n.Labels.With(label, value)
		}
	})
}

func (r *Roller) uncordon(n *kube.Node, label string) {
	r.env.API.UpdateNode(n, func(n *kube.Node) {
		n.Unschedulable = false
		if label != "" {
			n.Labels = n.Labels.Without(label)
		}
	})
}

// taint adds a taint without timeAdded, as everybody but the node lifecycle
// controller does.
func (r *Roller) taint(n *kube.Node, t kube.Taint) {
	r.env.API.UpdateNode(n, func(n *kube.Node) { n.AddTaint(t) })
}

func (r *Roller) untaint(n *kube.Node, key string) {
	r.env.API.UpdateNode(n, func(n *kube.Node) { n.RemoveTaint(key, "") })
}
