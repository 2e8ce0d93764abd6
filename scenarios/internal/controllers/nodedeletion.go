package controllers

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// NodeDeletion takes the place of the cloud controller manager in a cluster whose kubelets are kwok's: there is no
// cloud to ask, so that the removal of a machine includes that of its Node. At a termination that happens at once, as
// with `kubectl delete node`; a machine that vanished is noticed when the node lifecycle controller has called it
// unreachable, and no pod may stay there. None of that leaves an Event.
type NodeDeletion struct {
	env    *component.Env
	chance model.Stream
}

// noticeLost is one look of a script at a node that it waits for until the next.
var noticeLost = model.Uniform(0, 200*time.Millisecond)

// NewNodeDeletion starts watching instances and nodes.
func NewNodeDeletion(env *component.Env) *NodeDeletion {
	d := &NodeDeletion{env: env, chance: env.Stream("node-deletion")}
	env.Cloud.Watch(func(c cloud.Change, i *cloud.Instance) {
		switch c {
		case cloud.ShutdownAsk:
			d.delete(i, 0)
		case cloud.Ended:
			d.lost(env.API.Node(i.Name))
		}
	})
	env.API.WatchNodes(func(c kube.Change, old, n *kube.Node) {
		if c == kube.Modified && unreachable(n) && !unreachable(old) {
			d.lost(n)
		}
	})
	return d
}

// unreachable reports whether a node has the taint with both effects, which come
// in a random order.
func unreachable(n *kube.Node) bool {
	const key = "node.kubernetes.io/unreachable"
	return n.HasTaint(key, "NoSchedule") && n.HasTaint(key, "NoExecute")
}

// lost deletes a node that is unreachable because its machine is gone.
func (d *NodeDeletion) lost(n *kube.Node) {
	if n == nil || !unreachable(n) {
		return
	}
	if i := d.env.Cloud.ByNode(n.Name); i != nil && i.State == cloud.Terminated && !i.Hidden {
		d.delete(i, d.env.Draw(&d.chance, noticeLost))
	}
}

func (d *NodeDeletion) delete(i *cloud.Instance, after time.Duration) {
	n := d.env.API.Node(i.Name)
	if n == nil {
		return
	}
	d.env.After(after, func() {
		if !n.Gone() {
			d.env.API.DeleteNode(n)
		}
	})
}
