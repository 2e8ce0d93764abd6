package rolls

import (
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
	gap    bool // between a GAP and its SYNC, where the feed waits
	line   int  // of the present event
}

// current is a roll that isn't over, or what may become one: nodes that only
// come, or only go, are a resize.
type current struct {
	Roll
	drained int
	joined  map[string]bool // alive
	going   map[string]bool // cordoned or drained, and there
}

// nothing reports whether nodes were cordoned and uncordoned, and that is all.
func (c *current) nothing() bool { return c.Joined == 0 && c.Replaced == 0 && len(c.going) == 0 }

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
	if g.now != nil && g.now.nothing() && e.At-g.now.End > noderoll.StillAfter {
		g.now = nil // somebody has looked after a node: what comes is another story
	}
	switch e.Kind {
	case noderoll.EvtComplete:
		g.open(e)
		g.now.milestone(e, g.line)
		g.close(Complete)
		return
	case noderoll.EvtFailed:
		if g.now != nil {
			g.now.milestone(e, g.line)
			g.close(Failed)
		}
		return
	case noderoll.EvtJoining, noderoll.EvtOnline, noderoll.EvtCordoned, noderoll.EvtDraining, noderoll.EvtTerminated:
		if g.now == nil && (came || e.Kind != noderoll.EvtOnline) && g.outdated() {
			g.open(e)
		}
	case noderoll.EvtNotReady:
	default:
		return
	}
	if g.now != nil {
		g.now.node(e, came, g.line)
	}
}

// outdated reports whether the group has nodes to replace.
func (g *group) outdated() bool { return g.follower.OffTarget() > 0 }

func (g *group) open(e noderoll.Entry) {
	if g.now == nil {
		g.now = &current{Roll: Roll{Nodegroup: g.name, Start: e.At, StartLine: g.line}, joined: map[string]bool{}, going: map[string]bool{}}
	}
}

// node notes a transition of a node; came says that it is new.
func (c *current) node(e noderoll.Entry, came bool, line int) {
	if came {
		c.Joined++
		c.joined[e.Node] = true
	}
	switch e.Kind {
	case noderoll.EvtCordoned, noderoll.EvtDraining:
		c.drained++
		c.going[e.Node] = true
	case noderoll.EvtOnline:
		delete(c.going, e.Node)
	case noderoll.EvtTerminated:
		delete(c.going, e.Node)
		if !c.joined[e.Node] {
			c.Replaced++
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

// close ends what is open and keeps it if it was a roll.
func (g *group) close(o Outcome) {
	c := g.now
	g.now = nil
	if c == nil || o == Unfinished && (c.nothing() || c.drained == 0 && (c.Replaced == 0 || c.Joined == 0)) {
		return
	}
	c.Outcome, c.Left = o, g.follower.OffTarget()
	g.rolls = append(g.rolls, c.Roll)
}
