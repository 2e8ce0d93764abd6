package actors

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/model"
)

// NodeLifecycle is the node lifecycle controller of kube-controller-manager
// (pkg/controller/nodelifecycle/node_lifecycle_controller.go): it calls nodes
// unknown whose kubelets fall silent, gives nodes the taints of their
// conditions, at once those that keep pods away and one by one those that drive
// them off, and marks the pods of lost nodes.
type NodeLifecycle struct {
	env    *Env
	chance model.Stream
	known  map[*api.Node]*nodeHealth
	gone   []*api.Node // since the last look
	zones  map[string]*evictionZone
	order  []*evictionZone // in the order in which they were seen
}

// nodeHealth is what the controller remembers of a node.
type nodeHealth struct {
	heartbeat            api.Instant // of the Ready condition, when it was last looked at
	ready                bool        // there was a Ready condition
	lease                api.Instant
	probe                api.Instant // the last sign of life, as the controller noticed it
	registered, tainting bool
}

var nodeController = api.Source{Component: "node-controller"}

// NewNodeLifecycle starts the controller. Its looks at the nodes begin at a
// moment of chance within its period.
func NewNodeLifecycle(env *Env) *NodeLifecycle {
	c := &NodeLifecycle{env: env, chance: env.Stream("node-lifecycle"), known: map[*api.Node]*nodeHealth{}, zones: map[string]*evictionZone{}}
	env.API.WatchNodes(c.nodeChanged)
	period := env.Timings.MonitorPeriod.Median()
	phase := time.Duration(c.chance.N(uint64(max(period, 1))))
	var look func()
	look = func() {
		c.look()
		env.After(period, look)
	}
	env.After(phase, look)
	return c
}

func (c *NodeLifecycle) nodeChanged(change api.Change, old, n *api.Node) {
	if change == api.Deleted {
		c.gone = append(c.gone, n)
		c.env.API.DropLease(n.Name) // its owner is gone
		return
	}
	if change == api.Added && n.Created < c.env.API.Now() {
		// It was there before the tape began, and is known.
		h := c.health(n)
		h.registered = true
	}
	h := c.known[n]
	if h != nil && h.tainting || !needsTaints(n) {
		return
	}
	if h == nil {
		h = c.health(n)
	}
	h.tainting = true
	c.env.After(c.env.Draw(&c.chance, c.env.Timings.ConditionTaint), func() {
		h.tainting = false
		c.taint(n)
	})
}

func (c *NodeLifecycle) health(n *api.Node) *nodeHealth {
	h := c.known[n]
	if h == nil {
		h = &nodeHealth{probe: n.Created}
		c.known[n] = h
	}
	return h
}

// look is monitorNodeHealth, every five seconds.
func (c *NodeLifecycle) look() {
	now := c.env.API.Now()
	for _, n := range c.gone {
		if h := c.known[n]; h != nil && h.registered {
			c.env.API.Record(nodeController, api.AboutNode(n), "Normal", "RemovingNode",
				"Node "+n.Name+" event: Removing Node "+n.Name+" from Controller")
		}
		delete(c.known, n)
	}
	c.gone = c.gone[:0]
	for _, n := range c.env.API.Nodes() {
		h := c.health(n)
		if !h.registered {
			h.registered = true
			c.env.API.Record(nodeController, api.AboutNode(n), "Normal", "RegisteredNode",
				"Node "+n.Name+" event: Registered Node "+n.Name+" in Controller")
			c.zone(n)
		}
		c.check(n, h, now)
	}
	c.disruption(now)
	for _, z := range c.order {
		c.pass(z)
	}
}

// check is tryUpdateNodeHealth and what monitorNodeHealth does with it.
func (c *NodeLifecycle) check(n *api.Node, h *nodeHealth, now api.Instant) {
	ready := n.Conditions.Get("Ready")
	grace := c.env.Timings.StartupGrace.Median()
	if ready != nil {
		grace = c.env.Timings.MonitorGrace.Median()
		if !h.ready || h.heartbeat != ready.Heartbeat {
			h.ready, h.heartbeat, h.probe = true, ready.Heartbeat, now
		}
	}
	if lease, ok := c.env.API.Renewed(n.Name); ok && lease > h.lease {
		h.lease, h.probe = lease, now
	}
	wasReady := ready != nil && ready.Status == "True"
	if now > h.probe.Add(grace) && (ready == nil || ready.Status != "Unknown") {
		c.env.API.UpdateNode(n, func(n *api.Node) { n.Conditions = unknown(n, now) })
		h.heartbeat = n.Conditions.Get("Ready").Heartbeat
		h.ready = true
	}
	ready = n.Conditions.Get("Ready")
	if ready == nil {
		return
	}
	c.drive(n, ready.Status, now)
	if wasReady && ready.Status != "True" {
		c.env.API.Record(nodeController, api.AboutNode(n), "Normal", "NodeNotReady", "Node "+n.Name+" status is now: NodeNotReady")
		c.markPods(n, now)
	}
}

// unknown is what the controller makes of the conditions of a silent node: all
// four that a kubelet owns, at one moment.
func unknown(n *api.Node, now api.Instant) api.Conditions {
	next := n.Conditions
	for _, kind := range [...]string{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"} {
		was := next.Get(kind)
		switch {
		case was == nil:
			next = next.Set(api.Condition{
				Type: kind, Status: "Unknown", Reason: "NodeStatusNeverUpdated", Message: "Kubelet never posted node status.",
				Heartbeat: n.Created.Second(), Transition: now.Second(),
			})
		case was.Status != "Unknown":
			next = next.Set(api.Condition{
				Type: kind, Status: "Unknown", Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.",
				Heartbeat: was.Heartbeat, Transition: now.Second(),
			})
		}
	}
	return next
}

// markPods is MarkPodsNotReady of pkg/controller/util/node.
func (c *NodeLifecycle) markPods(n *api.Node, now api.Instant) {
	for _, p := range append([]*api.Pod(nil), c.env.API.PodsOn(n.Name)...) {
		was := p.Conditions.Get("Ready")
		if was == nil || was.Status == "False" {
			continue
		}
		next := *was
		next.Status, next.Transition = "False", now.Second()
		c.env.API.UpdatePod(p, func(p *api.Pod) { p.Conditions = p.Conditions.Set(next) })
		c.env.API.Record(nodeController, api.AboutPod(p), "Warning", "NodeNotReady", "Node is not ready")
	}
}

// conditionTaints are the taints that keep pods from a node in a condition.
var conditionTaints = []struct{ kind, status, key string }{
	{"Ready", "False", "node.kubernetes.io/not-ready"},
	{"Ready", "Unknown", "node.kubernetes.io/unreachable"},
	{"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
	{"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
	{"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
	{"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
}

const unschedulableTaint = "node.kubernetes.io/unschedulable"

func wantsTaint(n *api.Node, key string) bool {
	if key == unschedulableTaint {
		return n.Unschedulable
	}
	for _, t := range conditionTaints {
		if t.key == key && n.Conditions.Is(t.kind, t.status) {
			return true
		}
	}
	return false
}

func needsTaints(n *api.Node) bool {
	if n.Unschedulable != n.HasTaint(unschedulableTaint, "NoSchedule") {
		return true
	}
	for _, t := range conditionTaints {
		if n.HasTaint(t.key, "NoSchedule") != wantsTaint(n, t.key) {
			return true
		}
	}
	return false
}

// taint is doNoScheduleTaintingPass: taints are added in one write and removed
// in another (SwapNodeControllerTaint).
func (c *NodeLifecycle) taint(n *api.Node) {
	now := c.env.API.Now().Second()
	keys := make([]string, 0, len(conditionTaints)+1)
	for _, t := range conditionTaints {
		keys = append(keys, t.key)
	}
	keys = append(keys, unschedulableTaint)
	c.env.API.UpdateNode(n, func(n *api.Node) {
		for _, key := range keys {
			if wantsTaint(n, key) {
				n.AddTaint(api.Taint{Key: key, Effect: "NoSchedule", Added: now})
			}
		}
	})
	c.env.API.UpdateNode(n, func(n *api.Node) {
		for _, key := range keys {
			if !wantsTaint(n, key) {
				n.RemoveTaint(key, "NoSchedule")
			}
		}
	})
}
