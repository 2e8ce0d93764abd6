package kubelet

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// machine is an instance's machine as its kubelet sees it.
type machine struct {
	k      *Kubelets
	i      *cloud.Instance
	os     model.OS
	place  model.Place
	hostIP string
	// joining caches the node's shape while it joins, when it is needed often.
	joining *model.NodeShape
	t       *model.Timings
	v       model.Version // of the kubelet
	factor  model.Factor
	chance  model.Stream

	// turn counts starts and ends of the kubelet: calls that an earlier one has put in the loop are ignored.
	turn        int
	running     bool // the kubelet runs
	wiped       bool // the machine has booted since the kubelet last looked at its pods
	started     kube.Instant
	node        *kube.Node // that it has registered; it may be gone
	described   *kube.Node // of a machine of Take, as it was then
	bootID      string
	statusTimer *loop.Timer // the next status post
	trouble     model.Trouble
	cordoned    bool // as it has told
	shutting    bool // a graceful shutdown is under way
	seen        cloud.Ailments
	syncing     bool // a look at its own status is in the loop

	readyAt   kube.Instant // when its network is to be up
	unplugged bool         // its network waits for the plugin's pod
	unproxied bool         // kube-proxy's Event waits for its pod

	has            []imageID
	pulls          []pull
	ips            addresses
	memoryPressure *memoryPressure // nil where no pod leaks
	// deferred are pods whose resize waits for room, retry is the next look at them.
	deferred []*kube.Pod
	retry    *loop.Timer
	// orphans are addresses of removed pods whose containers may still run.
	orphans []string
}

func (k *Kubelets) newMachine(i *cloud.Instance) *machine {
	m := &machine{k: k, i: i, chance: k.env.Stream("kubelet", i.ID)}
	m.factor = model.DrawFactor(&m.chance, k.env.Jitter)
	k.machines[i] = m
	m.setTemplate()
	return m
}

// setTemplate takes on what the instance's template says: at a reimage, something else
// than before.
func (m *machine) setTemplate() {
	m.os = m.k.cfg.Shape(m.i).OS
	m.place = m.k.cfg.Place(m.i)
	m.joining = nil
	m.hostIP = m.place.IP.String()
	m.t = m.k.cfg.Timings(m.i.Group)
	m.seen = m.i.Ailments
	m.v = m.k.env.Version
	if v, err := model.ParseVersion(m.i.Template.Version); err == nil {
		m.v = v
	}
}

// draw draws how long something takes on this machine.
func (m *machine) draw(d model.Dist) time.Duration {
	return m.factor.Of(m.k.env.Draw(&m.chance, d))
}

// exactly is draw for periods that a slow machine doesn't stretch.
func (m *machine) exactly(d model.Dist) time.Duration { return m.k.env.Draw(&m.chance, d) }

// after has f called once d has passed, if the same kubelet still runs then.
func (m *machine) after(d time.Duration, f func()) {
	turn := m.turn
	m.k.env.After(d, func() {
		if m.turn == turn {
			f()
		}
	})
}

// up reports whether the kubelet has a Node to write, and the API server hears
// it.
func (m *machine) up() bool { return m.reachable() && !m.node.Gone() }

// reachable reports whether the kubelet learns of its pods: a registered one does even when its Node was deleted.
func (m *machine) reachable() bool { return m.running && !m.silent() && m.node != nil }

// silent reports whether the API server hears nothing of a kubelet.
func (m *machine) silent() bool { return m.i.Ailments.Silent() || m.i.Ailments.NeverPosts }

// works reports whether the kubelet gets anything done with its containers.
func (m *machine) works() bool { return m.reachable() && !m.i.Ailments.RuntimeDown }

func (m *machine) now() kube.Instant { return m.k.env.API.Now() }

// stop ends the kubelet for good or until the next start.
func (m *machine) stop() {
	m.turn++
	m.running, m.shutting, m.syncing = false, false, false
	m.statusTimer.Stop()
	m.retry.Stop()
	m.k.env.API.StopLease(m.i.Name)
	m.k.freeze(m)
}

// end does what is left when the provider has stopped the machine.
func (m *machine) end() {
	m.stop()
	m.pulls, m.orphans = nil, nil
	if m.i.State == cloud.Terminated {
		m.i.Group.FreeIPs += m.ips.drain()
		if m.k.byNode[m.i.Name] == m {
			delete(m.k.byNode, m.i.Name)
		}
		delete(m.k.machines, m.i)
	}
}

// source returns the source of the kubelet's events.
func (m *machine) source() kube.Source { return kube.Source{Component: "kubelet", Host: m.i.Name} }

// aboutNode is the kubelet's reference to its node: for want of better, the UID
// is the node's name, and there is no API version (nodeRefFromNode of
// pkg/kubelet/kubelet.go).
func (m *machine) aboutNode() kube.Reference {
	return kube.Reference{Kind: "Node", Name: m.i.Name, UID: m.i.Name}
}

// record reports an event about the node.
func (m *machine) record(kind, reason, message string) {
	m.k.env.API.Record(m.source(), m.aboutNode(), kind, reason, message)
}

// tell reports a change of the node's status (recordNodeStatusEvent of
// pkg/kubelet/kubelet_node_status.go).
func (m *machine) tell(reason string) {
	m.record("Normal", reason, "Node "+m.i.Name+" status is now: "+reason)
}
