package kubelet

import (
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// KwokDelays are the delays of kwok's stages in internal/testing/testcluster: the
// creation of a node until it is ready, the binding of a pod until it is ready,
// and its deletion until it is gone. 0 is one second.
type KwokDelays struct {
	NodeStart, PodStart, PodStop time.Duration
}

func orSecond(d time.Duration) time.Duration {
	if d <= 0 {
		return time.Second
	}
	return d
}

// kwokLag is the delay of a stage: kwok's own queue and its writes.
var kwokLag = model.Uniform(2*time.Millisecond, 30*time.Millisecond)

// registerKwok creates a node as a test of a cluster does: without conditions,
// addresses and most of what a kubelet knows of its machine.
func (m *machine) registerKwok() {
	s := m.k.env.API
	if m.i.Ailments.Silent() {
		m.after(registerRetry, m.registerKwok)
		return
	}
	n := s.Node(m.i.Name)
	if n == nil {
		if n = m.newNode(); !m.isDescribed() {
			m.plain(n)
		}
		if s.CreateNode(n) != nil {
			return
		}
	}
	m.node = n
	if m.i.Ailments.NeverPosts || m.i.Ailments.CNIBroken {
		return
	}
	s.StartLease(n.Name, m.now())
	m.wakeKwok()
}

// plain takes off a node what kwok's nodes don't have.
func (m *machine) plain(n *kube.Node) {
	shape := m.shape()
	n.Labels = Pairs(shape.AllLabels())
	n.Annotations, n.Addresses, n.Handlers, n.Images, n.Finalizers = nil, nil, nil, nil, nil
	n.KubeletPort = 0
	n.RemoveTaint(component.TaintUninitialized, "")
	n.Capacity = kube.Pairs{
		{Key: "cpu", Value: kube.MilliCPU(shape.Capacity.MilliCPU)},
		{Key: "memory", Value: kube.Bytes(shape.Capacity.MemoryBytes)},
		{Key: "pods", Value: strconv.FormatInt(shape.Capacity.Pods, 10)},
	}
	n.Allocatable = n.Capacity
	n.Info = kube.NodeInfo{
		OSImage: shape.Info.OSImage, Runtime: shape.Info.ContainerRuntimeVersion, KubeletVersion: shape.Info.KubeletVersion,
		OS: shape.Info.OperatingSystem, Architecture: shape.Info.Architecture,
	}
}

// wakeKwok plays the stage node-ready on a node that isn't, and pod-ready on its
// pods that aren't.
func (m *machine) wakeKwok() {
	m.after(orSecond(m.k.cfg.Kwok.NodeStart)+m.draw(kwokLag), func() {
		if !m.up() || m.node.Ready() {
			return
		}
		at := m.now().Second()
		m.k.env.API.UpdateNode(m.node, func(n *kube.Node) {
			n.Phase = "Running"
			n.Conditions = kwokConditions(at, at)
			n.Addresses = []kube.Address{{Type: "Hostname", Address: n.Name}}
		})
		m.joining = nil
		m.heartbeatKwok()
	})
	for _, p := range m.k.env.API.PodsOn(m.i.Name) {
		switch {
		case p.Terminating():
			m.k.stopKwok(m, p)
		case !p.Ready() && !p.Terminal():
			m.k.startKwok(m, p)
		}
	}
}

func kwokConditions(beat, transition kube.Instant) kube.Conditions {
	var out kube.Conditions
	for _, c := range model.KwokConditions() {
		out = append(out, kube.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, Heartbeat: beat, Transition: transition})
	}
	return out
}

// heartbeatKwok plays the stage node-heartbeat again and again: 300 to 310 s after
// each other.
func (m *machine) heartbeatKwok() { m.heartbeatKwokAfter(m.draw(kwokHeartbeat)) }

var kwokHeartbeat = model.Uniform(300*time.Second, 310*time.Second)

func (m *machine) heartbeatKwokAfter(d time.Duration) {
	m.statusTimer.Stop()
	turn := m.turn
	m.statusTimer = m.k.env.Timer(d, func() {
		if m.turn != turn || !m.up() || !m.node.Ready() {
			return
		}
		m.k.env.API.UpdateNode(m.node, func(n *kube.Node) {
			n.Conditions = slices.Clone(n.Conditions)
			for c := range n.Conditions {
				n.Conditions[c].Heartbeat = m.now().Second()
			}
		})
		m.heartbeatKwok()
	})
}

func (k *Kubelets) seedKwok(m *machine, n *kube.Node, created kube.Instant) {
	m.plain(n)
	n.Phase = "Running"
	n.Addresses = []kube.Address{{Type: "Hostname", Address: n.Name}}
	since := time.Duration(m.chance.N(uint64(300 * time.Second)))
	beat := max(m.now().Add(-since), created)
	n.Conditions = kwokConditions(beat.Second(), created.Second())
	m.heartbeatKwokAfter(max(300*time.Second-m.now().Sub(beat), 0) + time.Duration(m.chance.N(uint64(10*time.Second))))
}

// startKwok plays the stage pod-ready: one write.
func (k *Kubelets) startKwok(m *machine, p *kube.Pod) {
	m.after(orSecond(k.cfg.Kwok.PodStart)+m.draw(kwokLag), func() {
		if m.reachable() && !p.Gone() && !p.Terminating() && !p.Ready() && !p.Terminal() {
			k.write(p, func(p *kube.Pod) { k.runKwok(m, p, m.now()) })
		}
	})
}

// runKwok fills in the status that the stage pod-ready writes. The condition that it leaves alone, PodScheduled,
// comes after its own.
func (k *Kubelets) runKwok(m *machine, p *kube.Pod, since kube.Instant) {
	at := max(since.Second(), p.Created.Second())
	if p.Started == 0 {
		p.Started = at
	}
	p.Phase = "Running"
	if p.PodIP == "" {
		p.PodIP = m.takeAddress()
	}
	p.Containers = make([]kube.Container, len(p.Template.Containers))
	for c := range p.Containers {
		spec := &p.Template.Containers[c]
		p.Containers[c] = kube.Container{
			Name: spec.Name, Image: spec.Image, Ready: true, State: kube.ContainerState{Kind: "running", StartedAt: p.Started},
		}
	}
	next := make(kube.Conditions, 0, 4)
	for _, c := range model.KwokPodConditions() {
		// The stage is played again on a pod that was marked not ready: only
		// that condition has changed then.
		changed := p.Started
		if c.Type == model.Ready {
			changed = at
		}
		next = append(next, kube.Condition{Type: c.Type, Status: c.Status, Transition: changed})
	}
	for _, c := range p.Conditions {
		if next.Get(c.Type) == nil {
			next = append(next, c)
		}
	}
	if next.Get("PodScheduled") == nil {
		next = append(next, kube.Condition{Type: "PodScheduled", Status: "True", Transition: at})
	}
	p.Conditions = next
}

// stopKwok plays the stage pod-delete: a delete without grace.
func (k *Kubelets) stopKwok(m *machine, p *kube.Pod) {
	m.after(orSecond(k.cfg.Kwok.PodStop)+m.draw(kwokLag), func() {
		if m.reachable() && !p.Gone() && p.Terminating() {
			m.ips.give(m.numberOf(p.PodIP))
			k.writing = true
			k.env.API.DeletePod(p, 0)
			k.writing = false
		}
	})
}
