package controllers

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// NodeLifecycle is the node lifecycle controller of kube-controller-manager
// (pkg/controller/nodelifecycle/node_lifecycle_controller.go): it calls nodes
// unknown whose kubelets fall silent, gives nodes the taints of their
// conditions, at once those that keep pods away and one by one those that drive
// them off, and marks the pods of lost nodes.
type NodeLifecycle struct {
	env    *component.Env
	chance model.Stream
	byNode map[*kube.Node]*nodeHealth
	nodes  []*nodeHealth // in the order in which they came; gone ones until the next look
	rests  []rest        // of each of nodes
	known  map[string]*nodeHealth
	fresh  []*nodeHealth // that have come since the last look
	gone   []*nodeHealth // since the last look
	zones  map[string]*evictionZone
	order  []*evictionZone // in the order in which they were seen
	period time.Duration   // from one look to the next
	grid   time.Duration   // when the passes over the zones' queues are, within a tenth of a second
}

// rest is as much of a node's record as a look needs that finds it well and unchanged. Nearly all are, and those of a
// large cluster fit into a processor's cache.
type rest struct {
	until kube.Instant  // when its last sign of life is good for nothing any more; 0 where it isn't well or has changed
	zone  *evictionZone // nil where it doesn't count
	gone  bool
}

// nodeHealth is the controller's record of a node.
type nodeHealth struct {
	node      *kube.Node
	place     int // in nodes
	zone      *evictionZone
	heartbeat kube.Instant // of the Ready condition, when it was last looked at
	ready     bool         // there was a Ready condition
	probe     kube.Instant // when the controller noticed the last sign of life that it was asked for
	well      bool         // Ready, and without taints, when it was last looked at
	changed   bool         // since then
	old       bool         // it was there before the tape began
	tainting  bool         // a pass over its taints is on its way
	excluded  bool         // it doesn't count when zones are looked at
	lease     kube.LeaseRef
}

var nodeController = kube.Source{Component: "node-controller"}

// NewNodeLifecycle starts the controller. Its looks at the nodes begin at a
// random moment within its period.
func NewNodeLifecycle(env *component.Env) *NodeLifecycle {
	c := &NodeLifecycle{
		env: env, chance: env.Stream("node-lifecycle"), byNode: map[*kube.Node]*nodeHealth{}, known: map[string]*nodeHealth{},
		zones: map[string]*evictionZone{},
	}
	env.API.WatchNodes(c.nodeChanged)
	for _, n := range env.API.Nodes() {
		c.nodeChanged(kube.Added, nil, n)
	}
	c.period = max(env.Timings.MonitorPeriod.Median(), time.Millisecond)
	phase := time.Duration(c.chance.N(uint64(c.period)))
	c.grid = time.Duration(c.chance.N(uint64(passPeriod)))
	var look func()
	look = func() {
		c.look()
		env.After(c.period, look)
	}
	env.After(phase, look)
	return c
}

func (c *NodeLifecycle) nodeChanged(change kube.Change, old, n *kube.Node) {
	h := c.byNode[n]
	switch {
	case change == kube.Deleted:
		delete(c.byNode, n)
		c.gone = append(c.gone, h)
		c.rests[h.place] = rest{gone: true}
		c.env.API.DropLease(n.Name) // its owner is gone
		return
	case change == kube.Added:
		h = &nodeHealth{node: n, place: len(c.nodes), probe: n.Created.Second(), old: n.Created < c.env.API.Now().Second()}
		c.byNode[n] = h
		c.nodes, c.rests, c.fresh = append(c.nodes, h), append(c.rests, rest{}), append(c.fresh, h)
		c.place(h)
	case !sameLabels(old.Labels, n.Labels):
		c.place(h)
	}
	h.changed = true
	c.rests[h.place].until = 0
	if h.tainting || !needsTaints(n) && !needsLabels(n) {
		return
	}
	h.tainting = true
	c.env.After(c.env.Draw(&c.chance, c.env.Timings.ConditionTaint), func() {
		h.tainting = false
		c.taint(n)
		c.label(n)
	})
}

// look is monitorNodeHealth.
func (c *NodeLifecycle) look() {
	now, grace := c.env.API.Now(), c.env.Timings.MonitorGrace.Median()
	c.meet()
	for _, z := range c.order {
		z.queue = z.queue[:0]
		z.ready, z.lost = 0, 0
	}
	for i, h := range c.nodes {
		r := &c.rests[i]
		if now <= r.until {
			if r.zone != nil {
				r.zone.ready++
			}
			continue
		}
		if r.gone {
			continue
		}
		// What is well and unchanged stays so for as long as its last sign of
		// life is good for; only then is its Lease looked at, and it itself only
		// where that is no better.
		if !h.well || h.changed || now > h.probe.Add(grace) && now > c.lives(h).Add(grace) {
			c.check(h, now)
		}
		switch {
		case h.excluded:
		case h.well || h.node.Ready():
			h.zone.ready++
		default:
			h.zone.lost++
		}
		if *r = (rest{}); h.well && !h.changed {
			if r.until = h.probe.Add(grace); !h.excluded {
				r.zone = h.zone
			}
		}
	}
	c.disruption(now)
	c.pass()
}

// meet takes notice of nodes that have come and gone (classifyNodes). One that
// was deleted and has come back under its name in between was never away.
func (c *NodeLifecycle) meet() {
	if len(c.gone) > 0 {
		left := 0
		for i, r := range c.rests {
			if r.gone {
				continue
			}
			if left < i {
				c.nodes[left], c.rests[left] = c.nodes[i], r
				c.nodes[left].place = left
			}
			left++
		}
		clear(c.nodes[left:])
		c.nodes, c.rests = c.nodes[:left], c.rests[:left]
	}
	for _, h := range c.fresh {
		n := h.node
		if n.Gone() {
			continue
		}
		was := c.known[n.Name]
		c.known[n.Name] = h
		switch {
		case h.old:
			// It was noticed by a look before the tape began.
			if ready := n.Conditions.Get("Ready"); ready != nil {
				h.ready, h.heartbeat, h.probe = true, ready.Heartbeat, c.noticed(ready.Heartbeat)
			}
		case was == nil:
			c.env.API.Record(nodeController, kube.AboutNode(n), "Normal", "RegisteredNode",
				"Node "+n.Name+" event: Registered Node "+n.Name+" in Controller")
			c.reachable(n)
		}
	}
	for _, h := range c.gone {
		n := h.node
		if c.known[n.Name] != h {
			continue // it has a successor, or was never known
		}
		delete(c.known, n.Name)
		c.env.API.Record(nodeController, kube.AboutNode(n), "Normal", "RemovingNode",
			"Node "+n.Name+" event: Removing Node "+n.Name+" from Controller")
	}
	clear(c.fresh)
	clear(c.gone)
	c.fresh, c.gone = c.fresh[:0], c.gone[:0]
}

// lives takes a look at a node's Lease, and returns when the controller noticed
// the last sign of life.
func (c *NodeLifecycle) lives(h *nodeHealth) kube.Instant {
	if renewed, ok := c.env.API.RenewedBy(h.node.Name, &h.lease); ok {
		h.probe = max(h.probe, c.noticed(renewed))
	}
	return h.probe
}

// noticed returns the first look at which something is seen that happened.
func (c *NodeLifecycle) noticed(happened kube.Instant) kube.Instant {
	now := c.env.API.Now()
	return now.Add(-now.Sub(happened).Truncate(c.period))
}

// check is tryUpdateNodeHealth and what monitorNodeHealth does with it.
func (c *NodeLifecycle) check(h *nodeHealth, now kube.Instant) {
	n := h.node
	ready := n.Conditions.Get("Ready")
	grace := c.env.Timings.StartupGrace.Median()
	if ready != nil {
		grace = c.env.Timings.MonitorGrace.Median()
		if !h.ready || h.heartbeat != ready.Heartbeat {
			h.ready, h.heartbeat, h.probe = true, ready.Heartbeat, now
		}
	}
	c.lives(h)
	wasReady := ready != nil && ready.Status == "True"
	if now > h.probe.Add(grace) && (ready == nil || ready.Status != "Unknown") {
		c.env.API.UpdateNode(n, func(n *kube.Node) { n.Conditions = unknown(n, now) })
		h.heartbeat = n.Conditions.Get("Ready").Heartbeat
		h.ready = true
	}
	h.well = false
	if ready = n.Conditions.Get("Ready"); ready == nil {
		return
	}
	c.drive(h, ready.Status, now)
	h.well, h.changed = ready.Status == "True", false
	if wasReady && ready.Status != "True" {
		c.env.API.Record(nodeController, kube.AboutNode(n), "Normal", "NodeNotReady", "Node "+n.Name+" status is now: NodeNotReady")
		c.markPods(n)
	}
}

// unknown returns the conditions that the controller gives a silent node: all four that a kubelet owns, at one
// moment.
func unknown(n *kube.Node, now kube.Instant) kube.Conditions {
	next := n.Conditions
	for _, kind := range [...]string{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"} {
		was := next.Get(kind)
		switch {
		case was == nil:
			next = next.Set(kube.Condition{
				Type: kind, Status: "Unknown", Reason: "NodeStatusNeverUpdated", Message: "Kubelet never posted node status.",
				Heartbeat: n.Created.Second(), Transition: now.Second(),
			})
		case was.Status != "Unknown":
			next = next.Set(kube.Condition{
				Type: kind, Status: "Unknown", Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.",
				Heartbeat: was.Heartbeat, Transition: now.Second(),
			})
		}
	}
	return next
}

// How long the controller takes from one pod of a lost node to the next: a
// write and an answer.
const (
	markLeast = 5 * time.Millisecond
	markMost  = 15 * time.Millisecond
)

// markPods is MarkPodsNotReady of pkg/controller/util/node: one pod after the
// other, the node's own as they were when it was lost.
func (c *NodeLifecycle) markPods(n *kube.Node) {
	pods := append([]*kube.Pod(nil), c.env.API.PodsOn(n.Name)...)
	var next func()
	next = func() {
		for len(pods) > 0 {
			p := pods[0]
			pods = pods[1:]
			if c.markPod(p) {
				break
			}
		}
		if len(pods) > 0 {
			c.env.After(markLeast+time.Duration(c.chance.N(uint64(markMost-markLeast))), next)
		}
	}
	c.env.After(markLeast, next)
}

func (c *NodeLifecycle) markPod(p *kube.Pod) bool {
	was := p.Conditions.Get("Ready")
	if p.Gone() || was == nil || was.Status == "False" {
		return false
	}
	about := kube.AboutPod(p) // as it was before
	next := *was
	next.Status, next.Transition = "False", c.env.API.Now().Second()
	c.env.API.UpdatePod(p, func(p *kube.Pod) { p.Conditions = p.Conditions.Set(next) })
	c.env.API.Record(nodeController, about, "Warning", "NodeNotReady", "Node is not ready")
	return true
}
