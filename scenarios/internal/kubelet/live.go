package kubelet

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// What a live run on a real API server asks of kubelets besides what they do in a simulation.

// Resume puts the kubelet on a machine that has been running under another process, with the Node that it had
// registered. Its first post is at once, as that of a kubelet that has started is (k8s.io/kubernetes,
// pkg/kubelet/kubelet.go, fastStatusUpdateOnce): the node may have been missed meanwhile. A machine keeps its
// ailments.
func (k *Kubelets) Resume(i *cloud.Instance, n *kube.Node) {
	m := k.newMachine(i)
	m.bootID, m.running, m.started, m.node = n.Info.BootID, true, m.now(), n
	m.cordoned = n.Unschedulable
	k.byNode[i.Name] = m
	k.env.API.StartLease(n.Name, m.now())
	if i.Ailments.CNIBroken {
		m.trouble |= model.NetworkPluginNotReady
	}
	if m.silent() {
		k.env.API.StopLease(n.Name)
		return
	}
	m.post()
}

// ResyncPods has the kubelets that were resumed look through their pods, once
// those are known.
func (k *Kubelets) ResyncPods() {
	for _, n := range slices.Clone(k.env.API.Nodes()) {
		m := k.byNode[n.Name]
		if m == nil || m.node != n {
			continue
		}
		for _, p := range k.env.API.PodsOn(n.Name) {
			if number := m.numberOf(p.PodIP); number > 0 && !p.Template.HostNetwork && !p.Terminal() {
				m.ips.used[number/64] |= 1 << (number % 64)
			}
			for c := range p.Containers {
				m.keep(k.images.of(p.Containers[c].Image))
			}
		}
		m.adopt()
	}
}

// RunAtOnce lets change bind a pod to its node, and the pod run there from now on,
// as in a cluster at rest: nothing is pulled and nothing takes time.
func (k *Kubelets) RunAtOnce(p *kube.Pod, change func(*kube.Pod)) {
	k.write(p, func(p *kube.Pod) {
		change(p)
		k.Running(p, k.env.API.Now())
	})
	if m := k.byNode[p.NodeName]; m != nil && p.Claim != "" {
		m.showVolumes()
	}
}

// Reachable reports whether the kubelet of a node learns of its pods.
func (k *Kubelets) Reachable(node string) bool {
	m := k.byNode[node]
	return m != nil && m.reachable()
}
