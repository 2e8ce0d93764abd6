package rolls

import (
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// group finds the rolls of one group in its feed.
type group struct {
	name     string
	follower *observe.Follower
	rolls    []Roll
	now      *current
	// coming are nodes whose ADDED the feed has not told of yet: one that is
	// Ready at once comes online without joining.
	coming map[string]bool
	// scaledDown are nodes that are taken because they aren't needed.
	scaledDown map[string]bool
	// taken says that such a node is gone, and that nothing that may become a roll has begun since.
	taken bool
	gap   bool // between a GAP and its SYNC, where the feed waits
	line  int  // of the present event
}

// current is a roll that isn't over, or what may become one: nodes that only
// come, or only go, are a resize.
type current struct {
	Roll
	drained map[string]bool // cordoned or drained at some time, and needed
	surplus int             // of Replaced: those that weren't needed
	joined  map[string]bool // alive
	going   map[string]bool // cordoned or drained, and there
	image   string          // of most of the old nodes when it began
	moved   time.Duration   // when the last node came, was cordoned or drained, or went
}

// nothing reports whether nodes were cordoned and uncordoned, and that is all.
func (c *current) nothing() bool { return c.Joined == 0 && c.Replaced == 0 && len(c.going) == 0 }

// resize reports whether nodes only came, or were taken because they weren't needed.
func (c *current) resize() bool { return len(c.drained) == 0 && c.Replaced == c.surplus }

// scaleDown notes whether a node is taken because it isn't needed. Karpenter's NodeClaim says so after its taint;
// cluster-autoscaler's taint is the beginning, or else it only takes what somebody has drained.
func (g *group) scaleDown(node string, tainted, claimed bool) {
	c := g.now
	switch {
	case !tainted && !claimed:
		delete(g.scaledDown, node)
		return
	case !claimed && c != nil && c.drained[node]:
		return
	}
	g.scaledDown[node] = true
	if c != nil {
		delete(c.drained, node)
		delete(c.going, node)
		if c.nothing() && c.resize() {
			g.now = nil
		}
	}
}

// past reports whether what may have become a roll has long been over when e comes. New nodes of another image may wait for
// longer until the old ones are drained.
func (g *group) past(e *noderoll.Entry) bool {
	c := g.now
	return e.At-c.moved > noderoll.StillAfter && (c.nothing() || c.resize() && !g.another())
}

// another reports whether the nodes on target have another image than most of the old ones had when the roll began.
func (g *group) another() bool {
	_, young := g.follower.Images()
	return young != "" && young != g.now.image
}

func (g *group) apply(ev timeline.Event, line int) error {
	g.line = line
	switch ev.Type {
	case timeline.Added:
		g.coming[ev.Name] = true
	case timeline.Gap:
		g.gap = true
	case timeline.Sync:
		g.gap = false
	}
	entries, err := g.follower.Apply(ev)
	for _, e := range entries {
		g.take(e)
	}
	if !g.gap {
		clear(g.coming)
	}
	return err
}

// take looks at one entry of the group's feed.
func (g *group) take(e noderoll.Entry) {
	came := g.coming[e.Node] && e.Kind != noderoll.EvtTerminated
	if g.now != nil && g.past(&e) {
		g.now = nil // what comes is another story
	}
	switch e.Kind {
	case noderoll.EvtComplete:
		if g.now == nil && g.taken {
			g.taken = false // what was scaled down was the last of the old nodes
			return
		}
		g.open(e)
		last, line := g.now.End, g.now.EndLine
		g.now.milestone(e, g.line)
		if line > 0 && e.At-last >= noderoll.StillAfter { // it was resized meanwhile, and has rested since
			g.now.End, g.now.EndLine = last, line
		}
		if g.now.surplus > 0 && g.now.resize() && !g.another() {
			g.now = nil // a smaller node has taken the place of all
			return
		}
		g.close(Complete)
		return
	case noderoll.EvtFailed:
		if g.now != nil {
			g.now.milestone(e, g.line)
			g.close(Failed)
		}
		return
	case noderoll.EvtJoining, noderoll.EvtOnline, noderoll.EvtCordoned, noderoll.EvtDraining, noderoll.EvtTerminated:
		if g.now == nil && (came || e.Kind != noderoll.EvtOnline) && !g.scaledDown[e.Node] && g.outdated() {
			g.open(e)
		}
	case noderoll.EvtNotReady:
	default:
		return
	}
	if g.now != nil {
		g.now.node(e, came, g.scaledDown[e.Node], g.line)
	}
	if e.Kind == noderoll.EvtTerminated {
		g.taken = g.taken || g.now == nil && g.scaledDown[e.Node]
		delete(g.scaledDown, e.Node)
	}
}

// outdated reports whether the group has nodes to replace.
func (g *group) outdated() bool { return g.follower.OffTarget() > 0 }

func (g *group) open(e noderoll.Entry) {
	if g.now == nil {
		g.taken = false
		old, _ := g.follower.Images()
		g.now = &current{image: old, moved: e.At, Roll: Roll{Nodegroup: g.name, Start: e.At, StartLine: g.line}, drained: map[string]bool{}, joined: map[string]bool{}, going: map[string]bool{}}
	}
}

// node notes a transition of a node; came says that it is new, surplus that it goes because it isn't needed.
func (c *current) node(e noderoll.Entry, came, surplus bool, line int) {
	if came {
		c.Joined++
		c.joined[e.Node] = true
	}
	if came || e.Kind == noderoll.EvtCordoned || e.Kind == noderoll.EvtDraining || e.Kind == noderoll.EvtTerminated {
		c.moved = e.At
	}
	switch e.Kind {
	case noderoll.EvtCordoned, noderoll.EvtDraining:
		if !surplus {
			c.drained[e.Node], c.going[e.Node] = true, true
		}
	case noderoll.EvtOnline:
		delete(c.going, e.Node)
	case noderoll.EvtTerminated:
		delete(c.going, e.Node)
		if !c.joined[e.Node] {
			c.Replaced++
			if surplus {
				c.surplus++
			}
		}
		delete(c.joined, e.Node)
	}
	c.milestone(e, line)
}

// milestone notes the first transition of each kind, and the last termination.
func (c *current) milestone(e noderoll.Entry, line int) {
	c.End, c.EndLine = e.At, line
	last := -1
	first := true
	for i, m := range c.Milestones {
		if m.Kind == e.Kind {
			first = false
			last = i
		}
	}
	m := Milestone{Name: "first " + string(e.Kind), At: e.At, Kind: e.Kind, Node: e.Node}
	if c.Pods != nil {
		m.Pod = e.Object
	}
	switch {
	case e.Kind == noderoll.EvtComplete || e.Kind == noderoll.EvtFailed && m.Pod == "":
		m.Name = string(e.Kind)
	case first:
	case e.Kind != noderoll.EvtTerminated && e.Kind != noderoll.EvtUpdated && e.Kind != noderoll.EvtResized:
		return
	default:
		m.Name = "last " + string(e.Kind)
		if c.Milestones[last].Name == m.Name {
			c.Milestones = append(c.Milestones[:last], c.Milestones[last+1:]...)
		}
	}
	c.Milestones = append(c.Milestones, m)
}

// finish ends what is open at the tape's end, at a position and a line. What has rested up to there is complete.
func (g *group) finish(at time.Duration, line int) {
	g.line = line
	if due, ok := g.follower.NextDeadline(); ok && due <= at { // a list that no SYNC has ended stays open
		for _, e := range g.follower.Advance(at) {
			g.take(e)
		}
	}
	g.close(Unfinished)
}

// close ends what is open and keeps it if it was a roll.
func (g *group) close(o Outcome) {
	c := g.now
	g.now = nil
	if c == nil || o == Unfinished && (c.nothing() || c.resize() || len(c.drained) == 0 && (c.Replaced == 0 || c.Joined == 0)) {
		return
	}
	c.Outcome, c.Left = o, g.follower.OffTarget()
	g.rolls = append(g.rolls, c.Roll)
}
