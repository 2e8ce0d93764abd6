package actors

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/api"
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
)

// zoneState is how much of a zone is lost.
type zoneState int

const (
	zoneNormal zoneState = iota
	zonePartial
	zoneFull
)

// evictionZone hands out the taints of a zone one by one.
type evictionZone struct {
	name  string
	state zoneState
	size  int
	queue []*api.Node
	// next is when the next node may be tainted; stopped says that none may.
	next    api.Instant
	stopped bool
	waiting bool
}

// zone returns the zone of a node. The key is region and zone in the real
// controller; zones have names of their own here.
func (c *NodeLifecycle) zone(n *api.Node) *evictionZone {
	name := n.Labels.Get("topology.kubernetes.io/zone")
	z := c.zones[name]
	if z == nil {
		z = &evictionZone{name: name}
		c.zones[name] = z
		c.order = append(c.order, z)
	}
	return z
}

// drive is processTaintBaseEviction: it swaps the taint of one state for that of
// another at once, puts nodes without one in their zone's queue, and takes the
// taints from nodes that are well.
func (c *NodeLifecycle) drive(n *api.Node, ready string, now api.Instant) {
	want, other := notReadyTaint, unreachableTaint
	switch ready {
	case "True":
		c.reachable(n)
		return
	case "Unknown":
		want, other = unreachableTaint, notReadyTaint
	}
	if n.HasTaint(other, "NoExecute") {
		c.env.API.UpdateNode(n, func(n *api.Node) {
			n.AddTaint(api.Taint{Key: want, Effect: "NoExecute", Added: now.Second()})
		})
		c.env.API.UpdateNode(n, func(n *api.Node) { n.RemoveTaint(other, "NoExecute") })
		return
	}
	if z := c.zone(n); !n.HasTaint(want, "NoExecute") && !slices.Contains(z.queue, n) {
		z.queue = append(z.queue, n)
	}
}

// reachable is markNodeAsReachable.
func (c *NodeLifecycle) reachable(n *api.Node) {
	for _, key := range [...]string{unreachableTaint, notReadyTaint} {
		if n.HasTaint(key, "NoExecute") {
			c.env.API.UpdateNode(n, func(n *api.Node) { n.RemoveTaint(key, "NoExecute") })
		}
	}
	if z := c.zone(n); len(z.queue) > 0 {
		z.queue = slices.DeleteFunc(z.queue, func(q *api.Node) bool { return q == n })
	}
}

// pass is doNoExecuteTaintingPass for one zone: it taints as many nodes as the
// zone's rate allows, and comes back for the others.
func (c *NodeLifecycle) pass(z *evictionZone) {
	for len(z.queue) > 0 {
		n := z.queue[0]
		ready := n.Conditions.Get("Ready")
		if n.Gone() || ready == nil || ready.Status == "True" {
			z.queue = z.queue[1:]
			continue
		}
		now := c.env.API.Now()
		if z.stopped {
			return
		}
		if now < z.next {
			if !z.waiting {
				z.waiting = true
				c.env.After(z.next.Sub(now), func() { z.waiting = false; c.pass(z) })
			}
			return
		}
		z.queue = z.queue[1:]
		z.next = now.Add(c.interval(z))
		key := notReadyTaint
		if ready.Status == "Unknown" {
			key = unreachableTaint
		}
		c.env.API.UpdateNode(n, func(n *api.Node) {
			n.AddTaint(api.Taint{Key: key, Effect: "NoExecute", Added: now.Second()})
		})
	}
}

func (c *NodeLifecycle) interval(z *evictionZone) time.Duration {
	if z.state == zonePartial {
		return c.env.Timings.EvictionTaintIntervalPartial.Median()
	}
	return c.env.Timings.EvictionTaintInterval.Median()
}

// disruption is handleDisruption: it slows the tainting of zones down in which
// most is lost, and stops it where all is lost everywhere, which says more about
// the controller's own network than about the nodes.
func (c *NodeLifecycle) disruption(now api.Instant) {
	type tally struct{ ready, lost int }
	counts := make(map[*evictionZone]*tally, len(c.order))
	for _, z := range c.order {
		counts[z] = &tally{}
	}
	for _, n := range c.env.API.Nodes() {
		t := counts[c.zone(n)]
		if t == nil { // a zone of which this is the first node
			t = &tally{}
			counts[c.zone(n)] = t
		}
		if n.Ready() {
			t.ready++
		} else {
			t.lost++
		}
	}
	allFull, wereFull, zones := true, true, 0
	states := make([]zoneState, len(c.order))
	for i, z := range c.order {
		t := counts[z]
		z.size = t.ready + t.lost
		if z.size == 0 {
			z.state = zoneNormal
			continue
		}
		zones++
		switch {
		case t.ready == 0:
			states[i] = zoneFull
		case t.lost > 2 && t.lost*1000 >= unhealthyPerMille*z.size:
			states[i] = zonePartial
		}
		allFull = allFull && states[i] == zoneFull
		wereFull = wereFull && z.state == zoneFull
	}
	if zones == 0 || allFull && wereFull {
		return
	}
	if allFull {
		for _, n := range c.env.API.Nodes() {
			c.reachable(n)
		}
	} else if wereFull {
		for _, n := range c.env.API.Nodes() {
			if h := c.known[n]; h != nil {
				h.probe = now
			}
		}
	}
	for i, z := range c.order {
		z.state = states[i]
		z.stopped = allFull || z.state == zonePartial && z.size <= largeZone
	}
}
