package controllers

import (
	"math"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// The taints that drive pods off a node.
const (
	notReadyTaint    = "node.kubernetes.io/not-ready"
	unreachableTaint = "node.kubernetes.io/unreachable"
)

const (
	// A zone with this share of its nodes lost, and more than two, is in partial
	// disruption (--unhealthy-zone-threshold).
	unhealthyPerMille = 550
	// Above this size nodes are still tainted then, more slowly
	// (--large-cluster-size-threshold).
	largeZone = 50
	// passPeriod is the interval at which the zones' queues are processed (NodeEvictionPeriod of
	// nodelifecycle/scheduler).
	passPeriod = 100 * time.Millisecond
	// never is the interval of a zone in which no node is tainted.
	never = time.Duration(math.MaxInt64)
)

// exclusionLabel keeps a node from being counted in its zone.
const exclusionLabel = "node.kubernetes.io/exclude-disruption"

// zoneState says how much of a zone is lost.
type zoneState int

const (
	zoneInitial zoneState = iota
	zoneNormal
	zonePartial
	zoneFull
)

// evictionZone hands out the taints of a zone one by one: a rate limiter with
// room for one.
type evictionZone struct {
	state       zoneState
	ready, lost int // nodes, at this look
	// queue is the nodes that are to be tainted, as this look found them.
	queue []*kube.Node
	// next is when the next node may be tainted, interval how long after one the
	// next may be.
	next     kube.Instant
	interval time.Duration
	waiting  bool
}

// place finds the zone of a node, by region and zone as GetZoneKey of
// component-helpers/node/topology does.
func (c *NodeLifecycle) place(h *nodeHealth) {
	labels := h.node.Labels
	_, h.excluded = labels.Lookup(exclusionLabel)
	key := labels.Get(component.LabelRegion) + "\x00" + labels.Get(component.LabelZone)
	z := c.zones[key]
	if z == nil {
		z = &evictionZone{interval: c.env.Timings.EvictionTaintInterval.Median()}
		c.zones[key] = z
		c.order = append(c.order, z)
	}
	h.zone = z
}

// drive is processTaintBaseEviction: it swaps the taint of one state for that of
// another at once, puts nodes without one in their zone's queue, and takes the
// taints from nodes that are well.
func (c *NodeLifecycle) drive(h *nodeHealth, ready string, now kube.Instant) {
	n, want, other := h.node, notReadyTaint, unreachableTaint
	switch ready {
	case "True":
		c.reachable(n)
		return
	case "Unknown":
		want, other = unreachableTaint, notReadyTaint
	}
	switch {
	case n.HasTaint(other, "NoExecute"):
		c.env.API.UpdateNode(n, func(n *kube.Node) {
			n.AddTaint(kube.Taint{Key: want, Effect: "NoExecute", Added: now.Second()})
		})
		c.env.API.UpdateNode(n, func(n *kube.Node) { n.RemoveTaint(other, "NoExecute") })
	case !n.HasTaint(want, "NoExecute"):
		h.zone.queue = append(h.zone.queue, n)
	}
}

// reachable is markNodeAsReachable.
func (c *NodeLifecycle) reachable(n *kube.Node) {
	for _, key := range [...]string{unreachableTaint, notReadyTaint} {
		if n.HasTaint(key, "NoExecute") {
			c.env.API.UpdateNode(n, func(n *kube.Node) { n.RemoveTaint(key, "NoExecute") })
		}
	}
}

// pass has the zones' queues looked at where there is something in them.
func (c *NodeLifecycle) pass() {
	for _, z := range c.order {
		c.later(z)
	}
}

// later comes back to a zone at the pass at which its next node may be tainted.
func (c *NodeLifecycle) later(z *evictionZone) {
	if z.waiting || len(z.queue) == 0 || z.interval == never {
		return
	}
	z.waiting = true
	at := c.env.Now() + max(0, z.next.Sub(c.env.API.Now()))
	c.env.At(c.grid+(at-c.grid+passPeriod-1).Truncate(passPeriod), func() {
		z.waiting = false
		c.taintOne(z)
		c.later(z)
	})
}

// taintOne is doNoExecuteTaintingPass for one zone. Its queue has no order of
// its own: every look puts all nodes in it again, in the order of a map. A node
// that is well or gone by now takes its turn as well.
func (c *NodeLifecycle) taintOne(z *evictionZone) {
	now := c.env.API.Now()
	if len(z.queue) == 0 || z.interval == never || now < z.next {
		return
	}
	last := len(z.queue) - 1
	i := int(c.chance.N(uint64(len(z.queue))))
	n := z.queue[i]
	z.queue[i] = z.queue[last]
	z.queue = z.queue[:last]
	z.next = now.Add(z.interval)
	ready := n.Conditions.Get("Ready")
	if n.Gone() || ready == nil || ready.Status == "True" {
		return
	}
	key, other := notReadyTaint, unreachableTaint
	if ready.Status == "Unknown" {
		key, other = other, key
	}
	c.env.API.UpdateNode(n, func(n *kube.Node) {
		n.AddTaint(kube.Taint{Key: key, Effect: "NoExecute", Added: now.Second()})
	})
	c.env.API.UpdateNode(n, func(n *kube.Node) { n.RemoveTaint(other, "NoExecute") })
}

// limit is SwapLimiter: a zone gets another rate. The new limiter has its one
// turn, unless the old one had none.
func (z *evictionZone) limit(interval time.Duration, now kube.Instant) {
	if z.interval == interval {
		return
	}
	spent := z.interval == never || now < z.next
	if z.interval = interval; interval == never {
		return
	}
	if z.next = now; spent {
		z.next = now.Add(interval)
	}
}

// rate is setLimiterInZone.
func (c *NodeLifecycle) rate(z *evictionZone) time.Duration {
	switch {
	case z.state != zonePartial:
		return c.env.Timings.EvictionTaintInterval.Median()
	case z.ready+z.lost > largeZone:
		return c.env.Timings.EvictionTaintIntervalPartial.Median()
	}
	return never
}

// found is ComputeZoneState.
func (z *evictionZone) found() zoneState {
	switch {
	case z.ready == 0:
		return zoneFull
	case z.lost > 2 && z.lost*1000 >= unhealthyPerMille*(z.ready+z.lost):
		return zonePartial
	}
	return zoneNormal
}

// disruption is handleDisruption: it slows the tainting of zones down in which
// most is lost, and stops it where all is lost everywhere, which says more about
// the controller's own network than about the nodes.
func (c *NodeLifecycle) disruption(now kube.Instant) {
	allFull, wereFull, any := true, true, false
	for _, z := range c.order {
		if z.ready+z.lost == 0 {
			z.state = zoneInitial
			z.limit(c.env.Timings.EvictionTaintInterval.Median(), now)
			continue
		}
		any = true
		allFull = allFull && z.found() == zoneFull
		wereFull = wereFull && z.state == zoneFull
	}
	if !any || allFull && wereFull {
		return
	}
	switch {
	case allFull:
		for _, h := range c.nodes {
			if !h.node.Gone() {
				c.reachable(h.node)
			}
		}
	case wereFull:
		for _, h := range c.nodes {
			h.probe = now
		}
	}
	for _, z := range c.order {
		if z.ready+z.lost == 0 {
			continue
		}
		was := z.state
		z.state = z.found()
		switch {
		case allFull:
			z.limit(never, now)
		case wereFull || was != z.state:
			z.limit(c.rate(z), now)
		}
	}
}
