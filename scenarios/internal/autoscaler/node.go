package autoscaler

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
)

// scaledNode is a node as the autoscaler sees it.
type scaledNode struct {
	node     *kube.Node
	instance *cloud.Instance // nil where no group that is scaled has it
	group    *scaledGroup    // likewise
	zone     string

	pods        int            // of workloads
	used        component.Room // by all pods
	state       nodeState
	served      bool          // it was once ready for pods
	place       int           // in the group's list of free nodes, while it is free
	opened      time.Duration // when room last came up
	recent      bool          // it is in the group's list of those
	idle        time.Time     // since when no pod needs it; zero where one does
	toBeDeleted bool          // it is about to be terminated by the autoscaler
	marked      bool          // it carries the taint of a candidate
}

// nodeState is the autoscaler's view of a node.
type nodeState uint8

const (
	away    nodeState = iota // it takes no pods: cordoned, tainted, failing, or on its way out
	joining                  // it will take pods once it is ready
	free                     // it runs no workload
	busy                     // it runs some
)

// node follows the nodes of the API.
func (a *Autoscaler) node(c kube.Change, _, n *kube.Node) {
	sn := a.nodes[n.Name]
	switch c {
	case kube.Deleted:
		if sn != nil && sn.node == n {
			a.become(sn, away)
			delete(a.nodes, n.Name)
			delete(a.unready, sn)
		}
		return
	case kube.Added:
		sn = &scaledNode{node: n}
		a.nodes[n.Name] = sn
		if i := a.env.Cloud.ByNode(n.Name); i != nil && a.byGroup[i.Group] != nil {
			sn.instance, sn.group, sn.zone = i, a.byGroup[i.Group], i.Zone
		}
		for _, p := range a.env.API.PodsOn(n.Name) {
			if occupies(p) {
				a.carry(sn, p, 1)
			}
		}
	}
	if sn == nil || sn.node != n {
		return
	}
	if z := n.Labels.Get(component.LabelZone); z != "" {
		sn.zone = z
	}
	if n.Ready() {
		delete(a.unready, sn)
	} else {
		a.unready[sn] = struct{}{}
	}
	a.become(sn, a.stateOf(sn))
}

// stateOf judges a node.
func (a *Autoscaler) stateOf(sn *scaledNode) nodeState {
	n, i := sn.node, sn.instance
	if sn.group == nil || n.Gone() || n.Unschedulable || n.Terminating() || sn.toBeDeleted || !i.Alive() || i.Notice != 0 {
		return away
	}
	startup := !n.Ready()
	for k := range n.Taints {
		t := &n.Taints[k]
		switch {
		case t.Effect == component.EffectPreferNoSchedule || sn.group.gives(t):
		case kubelet.IsStartupTaint(t.Key):
			startup = true
		default:
			return away
		}
	}
	switch {
	case startup && sn.served:
		return away
	case startup:
		return joining
	case sn.pods > 0:
		return busy
	}
	return free
}

// become moves a node to another state.
func (a *Autoscaler) become(sn *scaledNode, to nodeState) {
	from := sn.state
	if from == to {
		return
	}
	sn.state = to
	if from == free {
		sn.group.dropFree(sn)
		sn.idle = time.Time{}
	}
	if to == free {
		sn.group.addFree(sn)
	}
	if to != free && to != busy {
		return
	}
	if !sn.served {
		sn.served = true
		sn.group.joined(sn.instance)
	}
	if from != free && from != busy {
		a.open(sn)
	}
}

// open notes that a node has room that the scheduler may not have seen yet.
func (a *Autoscaler) open(sn *scaledNode) {
	sn.opened = a.env.Now()
	if !sn.recent && sn.group != nil {
		sn.recent = true
		sn.group.recent = append(sn.group.recent, sn)
	}
}

// settled notes that a pod came to a node, or went.
func (a *Autoscaler) settled(p *kube.Pod, node string, by int) {
	sn := a.nodes[node]
	if sn == nil {
		return
	}
	a.carry(sn, p, by)
	if by < 0 {
		a.open(sn)
	}
	if sn.state == free || sn.state == busy {
		a.become(sn, a.stateOf(sn))
	}
}

func (a *Autoscaler) carry(sn *scaledNode, p *kube.Pod, by int) {
	sn.used = sn.used.Plus(component.NeedOf(p).Times(by))
	if p.Owner == nil || p.Owner.Kind != "DaemonSet" && p.Owner.Kind != "Node" {
		sn.pods += by
	}
}

// instance follows the provider.
func (a *Autoscaler) instance(c cloud.Change, i *cloud.Instance) {
	g := a.byGroup[i.Group]
	if g == nil {
		return
	}
	g.follow(c, i)
	if sn := a.nodes[i.Name]; sn != nil && sn.instance == i {
		a.become(sn, a.stateOf(sn))
	}
}
