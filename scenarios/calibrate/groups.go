package calibrate

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// A group is the nodes of one pool. It knows when the roller of the group waits for nothing but its own next look: a new
// node has become ready, no other one is on its way, and no node is being drained.
type group struct {
	joining  int // new nodes that aren't ready yet
	draining int // nodes that are cordoned, and ready
	idle     mark
	waited   time.Duration // how long the node that is ready since idle took to get there
	step     *rollStep
}

// A rollStep is a cordon that came next. It counts unless another cordon comes at once: a roller that cordons many
// nodes does so for many reasons.
type rollStep struct {
	from, until mark
	waited      time.Duration
}

// rollPause is the longest time between the steps of one roll. What is cordoned later is cordoned for another reason.
const rollPause = 10 * time.Minute

func (r *reading) group(name string) *group {
	g := r.groups[name]
	if g == nil {
		g = &group{}
		r.groups[name] = g
	}
	return g
}

// tally counts what a node is, or no longer is, in its group.
func (r *reading) tally(n *node, by int) {
	g := r.group(n.nodeState.group)
	if n.joined.is && !n.served {
		g.joining += by
	}
	if n.unschedulable && n.ready {
		g.draining += by
	}
}

// settled is a new node that has become ready.
func (g *group) settled(r *reading, n *node) {
	g.busy(r)
	if g.joining == 0 && g.draining == 0 {
		g.idle, g.waited = r.here(), r.now-n.joined.at
	}
}

// busy is a group that the roller waits for, or may react to.
func (g *group) busy(r *reading) {
	g.idle = mark{}
	g.steps(r)
}

// continues is a cordon: the roller has looked.
func (g *group) continues(r *reading) {
	if g.idle.is && r.now-g.idle.at <= rollPause {
		g.step = &rollStep{g.idle, r.here(), g.waited}
	} else {
		g.step = nil
	}
	g.idle = mark{}
}

// steps takes the step before, which stayed the only one. A roller that took longer than the new node to be ready began to wait
// when it saw the node, as those of a simulation do: the node's time is a part of it. The roller of kOps validates the
// cluster several times for each step, which says nothing of a single look.
func (g *group) steps(r *reading) {
	s := g.step
	g.step = nil
	if s == nil || model.Provider(r.provider) == model.KOps {
		return
	}
	if s.until.at-s.from.at > s.waited {
		s.from = s.from.before(s.waited)
	}
	r.add("rollerPoll", s.from, s.until)
}
