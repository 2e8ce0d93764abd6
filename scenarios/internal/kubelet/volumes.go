package kubelet

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Where a real control plane attaches volumes a kubelet does by its Node what it
// does in no tape: it mounts what status.volumesAttached lists, and says in
// status.volumesInUse what it has mounted, which the attach-detach controller
// detaches from no healthy node (pkg/controller/volume/attachdetach/reconciler/reconciler.go).
// The list goes with the kubelet's next look at its status, within ten seconds, and
// that of a silent kubelet stays as it was.

// Attached reports whether the Node that a pod is bound to lists the pod's volume.
// A pod without a claim lacks none.
func (k *Kubelets) Attached(node string, p *kube.Pod) bool {
	if p.Claim == "" || k.cfg.Volume == nil {
		return true
	}
	m := k.byNode[node]
	return m != nil && m.lists(k.cfg.Volume(p))
}

// attached reports whether the pod's volume may be mounted.
func (l *podWorker) attached() bool {
	if l.m.k.cfg.Volume == nil {
		return l.m.k.env.Cloud.Volumes.On(component.VolumeKey(l.p)) == l.m.i.ID
	}
	return l.m.lists(l.m.k.cfg.Volume(l.p))
}

func (m *machine) lists(volume string) bool {
	return volume != "" && m.node != nil && slices.ContainsFunc(m.node.Attached, func(a kube.Attached) bool { return a.Name == volume })
}

// volumesListed wakes the pods whose volume the control plane has listed.
func (k *Kubelets) volumesListed(_ kube.Change, old, n *kube.Node) {
	if old != nil && slices.Equal(old.Attached, n.Attached) {
		return
	}
	for _, p := range k.env.API.PodsOn(n.Name) {
		l, key := k.podWorkers[p], component.VolumeKey(p)
		if l == nil || l.stopping || !slices.Contains(k.waiting[key], l) || !l.attached() {
			continue
		}
		k.waiting[key] = slices.DeleteFunc(k.waiting[key], func(o *podWorker) bool { return o == l })
		if len(k.waiting[key]) == 0 {
			delete(k.waiting, key)
		}
		l.next(l.draw(seePod), l.volume)
	}
}

// volumesChanged has the kubelet look at its status when pods have begun or ended
// to use volumes.
func (m *machine) volumesChanged(p *kube.Pod) {
	if p.Claim != "" && m.k.cfg.Volume != nil {
		m.sync()
	}
}

// showVolumes writes at once what is in use. kwok says nothing of volumes.
func (m *machine) showVolumes() {
	if m.k.cfg.Volume != nil && m.k.cfg.Profile != Kwok && m.up() {
		m.k.env.API.UpdateNode(m.node, func(n *kube.Node) { n.InUse = m.inUse(n) })
	}
}

// inUse are the volumes of the pods that haven't ended, in order; where no control plane asks, the present ones.
func (m *machine) inUse(n *kube.Node) []string {
	if m.k.cfg.Volume == nil {
		return n.InUse
	}
	var all []string
	for _, p := range m.k.env.API.PodsOn(n.Name) {
		if p.Claim == "" || p.Terminal() {
			continue
		}
		if v := m.k.cfg.Volume(p); v != "" {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
