package scenarios

import (
	"bytes"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
	"github.com/nodesim/nodesim/timeline"
)

// kwokNode is the annotation, and its value any, of a Node that a client creates and whose kubelet is to be simulated: it
// is that by which kwok knows its nodes (kwok, pkg/config/vars.go, and so Karpenter's kwok provider).
const kwokNode = "kwok.x-k8s.io/node"

// keepClientsNodes has the machines of nodes that clients have created end with them.
func (a *Acting) keepClientsNodes() {
	a.sim.env.API.WatchNodes(func(c kube.Change, _, n *kube.Node) {
		if i := a.machines[n.Name]; c == kube.Deleted && i != nil {
			delete(a.machines, n.Name)
			a.sim.env.After(0, func() { a.sim.env.Cloud.Kill(i, false) })
		}
	})
}

// nodeCreated puts a kubelet on the machine of a Node that a client has created and that asks for one. It has taken the
// Node over, and posts its health.
func (a *Acting) nodeCreated(in *corev1.Node) {
	s := a.sim
	if in.Annotations[kwokNode] == "" || s.env.Cloud.ByNode(in.Name) != nil {
		return
	}
	s.env.After(0, func() {
		n := s.env.API.Node(in.Name)
		if n == nil || s.env.Cloud.ByNode(in.Name) != nil {
			return
		}
		if s.places == nil {
			s.places, s.providerIDs = map[*cloud.Instance]model.Place{}, map[*cloud.Instance]string{}
		}
		i := s.adoptMachine(a.clientsGroup(), in)
		a.machines[in.Name] = i
		s.kubelets.Take(i, n)
	})
}

// clientsGroup is the provider's group of the machines whose nodes clients have created.
func (a *Acting) clientsGroup() *cloud.Group {
	const name = "clients"
	c := a.sim.env.Cloud
	if g := c.Group(name); g != nil {
		return g
	}
	like := c.Groups()[0]
	g := &cloud.Group{Name: name, Zones: a.sim.file.Cluster.Zones, Template: like.Template, FreeIPs: like.FreeIPs, Detached: true}
	c.AddGroup(g)
	return g
}

// collected has Cluster API answer to the deletion of a Machine, which may be the garbage collector's.
func (a *Acting) collected(ev *timeline.Event) {
	if a.sim.machines == nil || ev.Type != timeline.Modified || !bytes.Contains(ev.Patch, []byte(`"deletionTimestamp"`)) {
		return
	}
	if r, _ := a.header.Lookup(ev.Resource); r == kube.Machines {
		a.provide(r, ev)
	}
}

// provide has the provider answer to a NodeClaim or Machine that a client has written, and Cluster API to a client that
// scales.
func (a *Acting) provide(r timeline.Resource, ev *timeline.Event) {
	s := a.sim
	switch r {
	case roll.MachineSets, roll.MachineDeployments:
		if s.machines != nil {
			s.machines.Rescale()
		}
		return
	case kube.NodeClaims, kube.Machines:
	default:
		return
	}
	namespace, name, deleted := ev.Namespace, ev.Name, ev.Type == timeline.Deleted
	s.env.After(0, func() {
		o := s.env.API.Custom(r.Resource, namespace, name)
		switch {
		case s.karpenter != nil && r == kube.NodeClaims && deleted:
			s.karpenter.Removed(name)
		case o == nil:
		case s.karpenter != nil && r == kube.NodeClaims:
			s.karpenter.Written(o)
		case s.machines != nil && r == kube.Machines:
			s.machines.Written(o)
		}
	})
}
