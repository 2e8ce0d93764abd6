package invariant

import (
	"strconv"

	"github.com/nodesim/nodesim/noderoll"
	corev1 "k8s.io/api/core/v1"
)

// RollLimits hold what a roll's policy allows. They hold for one node group: a
// tape of several has to be filtered first.
type RollLimits struct {
	// InFlight is the number of nodes, of those that came after the first list, that may be not yet
	// Ready at once; 0 is no limit. An EKS managed node group takes
	// max(2 × zones, maxUnavailable).
	InFlight int
	// Draining is the number of nodes that may be drained at once; 0 is no limit. For
	// managed node groups it is maxUnavailable.
	Draining int
	// OneTarget says that all nodes that come run one image, and that no node
	// changes its own.
	OneTarget bool
	// Provider tells images apart; the zero Provider asks each node.
	Provider noderoll.Provider
}

// What the policy of a roll promises.
var (
	rollInFlight = &Invariant{
		Name:     "roll-in-flight",
		Sentence: "No more new nodes are on their way to Ready at once than the limit says.",
		Source:   "EKS user guide, \"Understand each phase of node updates\": max(2 × zones, maxUnavailable)",
	}
	rollDraining = &Invariant{
		Name:     "roll-draining",
		Sentence: "No more nodes are being drained at once than the limit says: cordoned, with a pod that was told to go and pods still to move.",
		Source:   "EKS user guide, \"Understand each phase of node updates\": maxUnavailable",
	}
	rollOneTarget = &Invariant{
		Name:     "roll-one-target",
		Sentence: "The nodes that come during a roll run one image, and no node changes its own.",
		Source:   "EKS user guide, \"Understand each phase of node updates\": one launch template version for all new nodes",
	}
)

var rollInvariants = []*Invariant{rollInFlight, rollDraining, rollOneTarget}

// rollNode holds what is remembered of a node for the sake of a roll.
type rollNode struct {
	inFlight  bool
	draining  bool
	leaving   bool // cordoned, or tainted to be removed
	evictable int  // pods that a drain has to move
	image     noderoll.ImageID
}

// trackedRoll counts over all nodes.
type trackedRoll struct {
	inFlight, draining int
	target             noderoll.ImageID
}

func (c *Checker) rollNode(h *trackedObject, o *corev1.Node, s *step) {
	limits := c.opts.Roll
	if limits == nil {
		return
	}
	n := noderoll.NodeFrom(o)
	r := &h.node.roll
	provider := limits.Provider
	if provider.IsAuto() {
		provider = noderoll.Detect(&n)
	}
	image := provider.Image(&n)
	came := s.first && !s.jump
	if limits.OneTarget && !image.IsZero() {
		switch {
		case !s.first && !r.image.IsZero() && image != r.image:
			c.report(h, rollOneTarget, "image "+image.String()+" after "+r.image.String(), "it to stay")
		case came && c.roll.target.IsZero():
			c.roll.target = image
		case came && image != c.roll.target:
			c.report(h, rollOneTarget, "image "+image.String(), c.roll.target.String()+", as the nodes before")
		}
	}
	r.image = image
	switch {
	case came && !h.node.ready:
		r.inFlight = true
		c.roll.inFlight++
		if limits.InFlight > 0 && c.roll.inFlight > limits.InFlight {
			c.report(h, rollInFlight, strconv.Itoa(c.roll.inFlight)+" new nodes that aren't Ready yet", "at most "+strconv.Itoa(limits.InFlight))
		}
	case r.inFlight && h.node.ready:
		r.inFlight = false
		c.roll.inFlight--
	}
	r.leaving = n.Unschedulable || noderoll.BeingRemoved(n.TaintKeys, nil)
	if !r.leaving {
		c.drained(r)
	}
	if s.first {
		r.evictable = 0
		for p := range c.hostOf(h.key.name).pods {
			if p.pod.moves {
				r.evictable++
			}
		}
	}
}

func (c *Checker) drained(r *rollNode) {
	if r.draining {
		r.draining = false
		c.roll.draining--
	}
}

// rollGone takes a node out of the counts.
func (c *Checker) rollGone(h *trackedObject) {
	r := &h.node.roll
	c.drained(r)
	if r.inFlight {
		r.inFlight = false
		c.roll.inFlight--
	}
}

// rollPod follows a pod that a drain has to move.
func (c *Checker) rollPod(h *trackedObject) {
	if c.opts.Roll == nil {
		return
	}
	p := h.pod
	moves := p.host != nil && !p.daemon && !p.mirror && !p.ended()
	told := moves && !h.deletion.IsZero()
	if moves != p.moves {
		p.moves = moves
		c.countMoves(p, moves)
	}
	x := p.host
	if !told || p.reported || x == nil || x.node == nil {
		p.reported = told
		return
	}
	p.reported = true
	r := &x.node.node.roll
	if r.draining || !r.leaving {
		return
	}
	r.draining = true
	c.roll.draining++
	if most := c.opts.Roll.Draining; most > 0 && c.roll.draining > most {
		c.report(x.node, rollDraining, strconv.Itoa(c.roll.draining)+" nodes that are drained", "at most "+strconv.Itoa(most))
	}
}

// rollPodGone takes a pod out of the counts of its node.
func (c *Checker) rollPodGone(h *trackedObject) {
	if h.pod.moves {
		h.pod.moves = false
		c.countMoves(h.pod, false)
	}
}

// countMoves counts a pod on its node, whose drain is over with the last one.
func (c *Checker) countMoves(p *trackedPod, more bool) {
	if p.host == nil || p.host.node == nil || p.host.node.node == nil {
		return
	}
	r := &p.host.node.node.roll
	if more {
		r.evictable++
		return
	}
	if r.evictable--; r.evictable <= 0 {
		r.evictable = 0
		c.drained(r)
	}
}
