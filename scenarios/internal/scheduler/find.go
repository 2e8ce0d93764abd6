package scheduler

import (
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// enough is the number of feasible nodes to compare: minFeasibleNodesToFind of pkg/scheduler/schedule_one.go,
// which a cluster of up to 100 nodes compares in any case, and a larger one with percentageOfNodesToScore at its
// least. The default compares more, 5 to 50 %, and finds nodes that are as good.
const enough = 100

// feasibleNode is a node on which a pod may run, and what speaks for it.
type feasibleNode struct {
	node    *schedNode
	seat    *seat // the node's
	avoided int
	spread  int64
	score   int64
}

// find returns the node on which a pod of a class runs best, or nil where none
// fits. Nodes are looked for in turn, from where the last search ended; each
// group of like nodes has its share of those that are compared.
func (s *Scheduler) find(p *kube.Pod, c *podClass) *schedNode {
	d := s.demandOf(p)
	if p.Pinned != "" {
		n := s.nodes[p.Pinned]
		if n == nil || s.Refusal(c.template, n.group) != "" || !n.free().Holds(c.need) || s.elsewhere(p, n.group) || !d.holds(n) {
			return nil
		}
		return n
	}
	s.sort(c)
	limits := s.limits(c)
	total := 0
	for i := range c.open {
		if g := &c.open[i]; s.mayHold(p, c, g, limits) {
			total += g.count
		}
	}
	// Where most nodes are full, the shares of the others grow until there is
	// enough to compare.
	spots := s.feasible
	for grown, more := 1, true; more; grown *= 4 {
		spots, more = spots[:0], false
		for i := range c.open {
			g := &c.open[i]
			if !s.mayHold(p, c, g, limits) {
				continue
			}
			share := min(g.count, enough)
			if total > enough {
				share = min(share, max(1, enough*grown*g.count/total))
			}
			before := len(spots)
			spots = g.collect(spots, c, limits, d, share)
			more = more || len(spots)-before == share && share < min(g.count, enough)
		}
		more = more && len(spots) < enough
	}
	s.feasible = spots
	if len(spots) == 0 {
		return nil
	}
	return s.best(spots, c, d)
}

// mayHold reports whether nothing but their room keeps a pod from a group's
// nodes.
func (s *Scheduler) mayHold(p *kube.Pod, c *podClass, g *feasibleGroup, limits spreadLimits) bool {
	return g.count > 0 && limits.zone(c, g.zone) && !s.elsewhere(p, g.NodeGroup)
}

// collect appends up to so many of a group's nodes that fit.
func (g *feasibleGroup) collect(spots []feasibleNode, c *podClass, limits spreadLimits, d *demand, share int) []feasibleNode {
	end, wrapped := len(g.seats), false
	start := g.cursor
	if start >= end {
		start = 0
	}
	need, places := c.need, g.rooms.places()
	for at := start; share > 0; {
		next := at
		if at >= len(places) || !places[at].Holds(need) {
			next = g.rooms.next(at, need)
		}
		if next < 0 || next >= end {
			if wrapped || start == 0 {
				break
			}
			at, end, wrapped = 0, start, true
			continue
		}
		at = next + 1
		g.cursor = at
		if at := &g.seats[next]; limits.host(c, at.node) && (d == nil || d.holds(at.node)) {
			spots = append(spots, feasibleNode{node: at.node, seat: at, avoided: g.avoided})
			share--
		}
	}
	return spots
}

// spreadLimits are the most pods of a class that a zone and a host may run
// before another one may be added; -1 is no limit.
type spreadLimits struct{ inZone, onHost int }

func (s *Scheduler) limits(c *podClass) spreadLimits {
	l := spreadLimits{-1, -1}
	for i := range c.hard {
		switch c.hard[i].TopologyKey {
		case component.LabelZone:
			l.inZone = s.fewestInZone(c) + c.hard[i].MaxSkew - 1
		case component.LabelHostname:
			l.onHost = c.fewestOnHost() + c.hard[i].MaxSkew - 1
		}
	}
	return l
}

func (l spreadLimits) zone(c *podClass, zone int) bool {
	return l.inZone < 0 || zone != 0 && c.in(zone) <= l.inZone
}

func (l spreadLimits) host(c *podClass, n *schedNode) bool {
	return l.onHost < 0 || c.on(n) <= l.onHost
}
