package kubelet

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Take puts the kubelet on a machine that somebody else has described by a Node, as it is there: the kubelet keeps what
// it says, and posts its health. The pods that are bound to it are looked at by [Kubelets.ResyncPods].
func (k *Kubelets) Take(i *cloud.Instance, n *kube.Node) {
	m := k.newMachine(i)
	was := *n
	m.described = &was
	m.bootID, m.running, m.started, m.node = n.Info.BootID, true, m.now(), n
	m.cordoned = n.Unschedulable
	k.byNode[i.Name] = m
	k.env.API.StartLease(n.Name, m.now())
	switch {
	case m.silent():
		k.env.API.StopLease(n.Name)
	case k.cfg.Profile != Kwok:
		m.post()
	case n.Ready():
		m.heartbeatKwok()
	default:
		m.wakeKwok()
	}
}

// again is the Node that the kubelet of a described machine registers where the one that it had is gone.
func (m *machine) again() *kube.Node {
	was := m.described
	n := &kube.Node{
		ProviderID: was.ProviderID, Addresses: was.Addresses, Capacity: was.Capacity, Allocatable: was.Allocatable,
		KubeletPort: was.KubeletPort, Info: was.Info, Handlers: was.Handlers,
	}
	n.Name, n.Labels, n.Annotations = was.Name, was.Labels, was.Annotations
	n.Taints = slices.DeleteFunc(slices.Clone(was.Taints), func(t kube.Taint) bool { return kubernetes(t.Key) })
	n.Info.BootID = m.bootID
	return n
}

// kubernetes reports whether a taint is one that controllers keep.
func kubernetes(key string) bool {
	const prefix = "node.kubernetes.io/"
	return len(key) > len(prefix) && key[:len(prefix)] == prefix
}

// isDescribed reports whether the machine is one of [Kubelets.Take].
func (m *machine) isDescribed() bool { return m.described != nil }
