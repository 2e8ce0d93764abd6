package kubelet

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// boot is the start of a machine: its kubelet comes after a while.
func (m *machine) boot() {
	m.stop()
	m.setTemplate()
	m.pulls, m.orphans, m.memoryPressure = nil, nil, nil
	m.node, m.wiped = nil, true
	if m.bare() {
		m.has = nil // what boots is a new image, or an empty disk
	}
	if m.k.cfg.Profile == Real {
		m.i.Group.FreeIPs += m.ips.drain()
	}
	m.bootID = m.chance.UUID()
	if m.i.Ailments.UserDataFail {
		return
	}
	takes := m.t.Boot
	if m.i.Boot > 1 && !m.bare() {
		takes = m.t.Reboot
	}
	m.after(m.draw(takes), m.start)
}

// bare reports whether the node of the name isn't there: the machine was
// reimaged, or it is new.
func (m *machine) bare() bool { return m.k.env.API.Node(m.i.Name) == nil }

// start is the start of the kubelet itself.
func (m *machine) start() {
	if m.i.Ailments.Dead || m.i.Ailments.UserDataFail || m.i.State != cloud.Running {
		return
	}
	m.running = true
	m.started = m.now()
	m.trouble = model.JustRegistered
	m.unplugged, m.unproxied, m.readyAt = false, false, 0
	if m.i.Ailments.RuntimeDown {
		m.trouble |= model.PLEGUnhealthy
	}
	if old := m.k.byNode[m.i.Name]; old != nil && old != m {
		old.stop()
	}
	m.k.byNode[m.i.Name] = m
	if m.k.cfg.Profile == Kwok {
		m.after(m.draw(m.t.Register), m.registerKwok)
		return
	}
	if !m.silent() || m.i.Ailments.NeverPosts {
		m.record("Normal", "Starting", "Starting kubelet.")
		m.record("Warning", "InvalidDiskCapacity", "invalid capacity 0 on image filesystem")
		m.tellHealth()
		// The kubelet builds its status once more for the next try to register.
		m.after(m.draw(secondLook), func() {
			m.tellHealth()
			m.record("Normal", "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
		})
	}
	m.after(m.draw(m.t.Register), m.register)
}

// secondLook is from the kubelet's first status until its second: the events of
// joining nodes on EKS count up to 2 within one second.
var secondLook = model.Uniform(200*time.Millisecond, 900*time.Millisecond)

func (m *machine) tellHealth() {
	for _, kind := range [...]string{model.MemoryPressure, model.DiskPressure, model.PIDPressure} {
		m.tell(model.PressureEvent(kind, false))
	}
}

// register creates the Node, or takes over the one that is there
// (tryRegisterWithAPIServer of pkg/kubelet/kubelet_node_status.go).
func (m *machine) register() {
	if m.i.Ailments.Silent() {
		m.after(registerRetry, m.register)
		return
	}
	s := m.k.env.API
	if n := s.Node(m.i.Name); n != nil {
		m.takeOver(n)
		return
	}
	n := m.newNode()
	n.Conditions = m.conditions(nil, m.built().Second())
	if s.CreateNode(n) != nil {
		m.after(registerRetry, m.register)
		return
	}
	m.node, m.cordoned = n, false
	s.DropLease(n.Name)
	if m.i.Ailments.NeverPosts {
		return
	}
	s.StartLease(n.Name, m.now())
	m.becoming(m.draw(m.t.BecomeReady))
	m.resume()
}

// built is when the kubelet built the status that it registers with: when it
// started, or for the latest of its tries, some seconds before the Node.
func (m *machine) built() kube.Instant { return max(m.started, m.now().Add(-4*time.Second)) }

// registerRetry is between two tries to register; it grows to 7 s
// (registerWithAPIServer).
const registerRetry = 7 * time.Second

// becoming holds the steps of a node until it is ready.
func (m *machine) becoming(ready time.Duration) {
	m.readyAt = m.now().Add(ready)
	m.after(m.draw(m.t.KubeProxyStart), m.proxyStarts)
	// The first regular look at its own status finds that some of the trouble
	// is over.
	look := m.exactly(m.t.StatusSync) - time.Duration(m.now()-m.started)
	m.after(look, func() {
		m.settle()
	})
	m.after(ready, m.networkUp)
	m.addExtras()
}

// settle is a joining node with nothing left to wait for but its network.
func (m *machine) settle() {
	if m.trouble&model.DiskUnknown != 0 {
		m.trouble = m.trouble&^model.JustRegistered | model.StillJoining
		m.post()
	}
}

// networkUp is the moment when the network plugin has been configured: until
// then the kubelet looks ten times a second, so its node is ready at once
// (fastStatusUpdateOnce of pkg/kubelet/kubelet.go).
func (m *machine) networkUp() {
	if m.i.Ailments.CNIBroken {
		m.settle()
		return
	}
	if m.trouble&model.NetworkPluginNotReady == 0 {
		return
	}
	if m.lacks(isNetworkPlugin) {
		m.unplugged = true
		return
	}
	m.trouble &^= model.JustRegistered
	m.post()
	m.after(m.draw(m.t.CSIRegister), m.registerCSI)
}

// takeOver is the return of a kubelet to a Node that it finds: after a reboot,
// or after a restart of itself.
func (m *machine) takeOver(n *kube.Node) {
	rebooted := n.Info.BootID != m.bootID
	m.node, m.cordoned = n, n.Unschedulable
	if m.i.Ailments.NeverPosts {
		return
	}
	m.k.env.API.StartLease(n.Name, m.now())
	if rebooted {
		m.record("Warning", "Rebooted", "Node "+n.Name+" has been rebooted, boot id: "+m.bootID)
		m.post()
		m.becoming(m.draw(m.t.BecomeReady))
		m.resume()
		return
	}
	m.trouble &^= model.JustRegistered
	m.post()
	m.resume()
}
