package analysis

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// gate is what a budget says to pods that are ready, or to those that aren't: whether the server refuses their eviction.
// Times are added up here once, whatever the number of pods that wait.
type gate struct {
	budget  *budget
	refuses bool
	since   Moment        // of refuses
	closed  time.Duration // for which it refused before since
	opened  Moment        // when it last allowed evictions again
	fresh   []*pod        // wait, and haven't been refused yet
	waiting int
}

// at is how long the gate has refused, up to a moment.
func (g *gate) at(now Moment) time.Duration {
	if g.refuses {
		return g.closed + now.At - g.since.At
	}
	return g.closed
}

func (g *gate) set(s *reading, refuses bool) {
	if g.refuses == refuses {
		return
	}
	g.closed = g.at(s.now)
	g.refuses, g.since = refuses, s.now
	if !refuses {
		g.opened = s.now
		g.budget.holds(s, -g.waiting)
		return
	}
	g.budget.holds(s, g.waiting)
	for _, p := range g.fresh {
		if p.held.gate == g && !p.held.from.is() {
			p.held.begin(s, p)
		}
	}
	g.fresh = g.fresh[:0]
}

// held is how budgets hold up the eviction of one pod.
type held struct {
	asked    Moment        // the drain began, or the pod came: the server would be asked
	waits    bool          // the pod hasn't been deleted since
	gate     *gate         // that it waits at
	entered  time.Duration // what the gate had refused then
	budget   *budget       // the last one that refused it
	from, to Moment        // the first and the last moment of being refused
	refused  time.Duration // how long it was, between them
	why      string
	node     *node
	told     *budget // refused it, in the server's words, and is no object on the tape
}

// hold lets a pod wait to be evicted, or ends that.
func (s *reading) hold(p *pod, waits bool) {
	h := &p.held
	if !waits {
		if h.waits {
			h.waits = false
			s.leaveGate(p)
		}
		return
	}
	if !h.waits {
		h.waits = true
		if !h.asked.is() {
			h.asked = s.now
		}
		h.node = p.place.node
	}
	s.enterGate(p)
}

// gateOf is the gate that the server would send a pod to: none for one that is pending, or that no budget covers; and of two
// budgets, which the server doesn't support, one that never opens; and where the tape doesn't have the budget that the server
// named when it refused the pod, one that opens when the pod is let go (pkg/registry/core/pod/storage/eviction.go of Kubernetes).
func (p *pod) gateOf() *gate {
	c := p.class
	switch b := p.held.told; {
	case b != nil:
		return &b.told
	case p.pending || c == nil || len(c.budgets) == 0:
		return nil
	case len(c.budgets) > 1:
		return &c.budgets[0].never
	case p.ready:
		return &c.budgets[0].gates[1]
	}
	return &c.budgets[0].gates[0]
}

// enterGate sends a waiting pod to its gate.
func (s *reading) enterGate(p *pod) {
	h, g := &p.held, p.gateOf()
	if h.gate == g {
		return
	}
	s.leaveGate(p)
	h.gate = g
	if g == nil {
		return
	}
	h.entered = g.at(s.now)
	g.waiting++
	if g.refuses {
		g.budget.holds(s, 1)
		h.begin(s, p)
	} else if !h.from.is() {
		g.fresh = append(g.fresh, p)
	}
}

// leaveGate takes a pod from its gate.
func (s *reading) leaveGate(p *pod) {
	h := &p.held
	g := h.gate
	if g == nil {
		return
	}
	h.gate = nil
	g.waiting--
	h.refused += g.at(s.now) - h.entered
	switch {
	case g.refuses:
		g.budget.holds(s, -1)
		h.to = s.now
	case g.closed > h.entered || h.from.is() && !h.to.is():
		h.to = g.opened // another gate may have held it last
	}
}

// begin notes that a pod is refused.
func (h *held) begin(s *reading, p *pod) {
	b := h.gate.budget
	h.budget = b
	if h.gate == &b.never {
		b.among(p.class)
	}
	if !h.from.is() {
		h.from = s.now
		h.why = b.why(h.gate)
	}
	b.note(p, h.node)
}

// blockade is a budget that holds up a node which is only cordoned: as the feed infers it, from which it is known when it
// has lasted for a while.
type blockade struct {
	budget   *budget
	from, to Moment
	pods     []*pod
	why      string
}

// block begins a blockade that the feed tells of.
func (n *node) block(s *reading, e noderoll.Entry) {
	after := s.o.BlockedAfter
	if after <= 0 {
		after = noderoll.BlockedAfter
	}
	var first *budget
	k := &blockade{from: Moment{max(e.At-after, 0), s.now.Line}}
	if n.Cordoned != nil && n.Cordoned.At >= k.from.At {
		k.from = *n.Cordoned
	}
	for _, p := range n.place.pods {
		if g := p.gateOf(); p.counts && !p.deleting && g != nil && g.refuses {
			k.pods = append(k.pods, p)
			if b := g.budget; first == nil || b.key() < first.key() {
				first = b
				k.why = b.why(g)
			}
			if g == &g.budget.never {
				g.budget.among(p.class)
			}
		}
	}
	if first == nil {
		return
	}
	slices.SortFunc(k.pods, byName)
	k.budget, n.blocked = first, k
	first.holds(s, 1)
	first.back(k.from)
	for _, p := range k.pods {
		first.note(p, n)
	}
}

// unblock ends the blockade of a node.
func (n *node) unblock(s *reading) {
	if k := n.blocked; k != nil {
		k.to, n.blocked = s.now, nil
		n.ended = append(n.ended, k)
		k.budget.ended = append(k.budget.ended, k)
		k.budget.holds(s, -1)
	}
}

// refused counts a request to evict a pod that the server refused, which only a tape made of an audit log tells.
func (s *reading) refused(ev *timeline.Event) {
	p := s.pods[objectName{ev.Namespace, ev.Name}]
	if p == nil {
		return
	}
	p.workload.Refusals++
	name, sp := ev.ExtraText("budget"), s.space(ev.Namespace)
	b := sp.all[name]
	if b == nil && name != "" {
		b = s.newBudget(sp, ev.Namespace, name)
	}
	if b != nil {
		b.Refusals++
		if b.object == nil {
			b.said, p.held.told = ev.Reason, b
			if p.held.waits {
				s.enterGate(p)
			}
		}
	} else if p.class != nil && len(p.class.budgets) > 0 {
		p.class.budgets[0].Refusals++
	}
}
