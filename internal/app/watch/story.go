package watch

import (
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
)

// A story tells from successive snapshots what a noderoll.Feed tells from single
// changes, by the same rules as far as snapshots show them. What is watched counts
// as one group, and what happens between two looks isn't seen.
type story struct {
	tracker *noderoll.Tracker
	seq     uint64
	nodes   map[string]*seen
	last    noderoll.Snapshot
	moved   time.Duration // when a node, or the pods of a draining one, changed last

	// Of the roll: how many nodes it has to replace, 0 before it begins; whether it
	// is over; what its nodes ran, and are to run.
	desired  int
	over     bool
	from, to string
}

// seen is what a story remembers of a node.
type seen struct {
	uid      string
	cordoned bool // told of as cordoned
	drained  bool // somebody drains it
	held     bool // since is meant
	since    time.Duration
	blocked  string // the budget it is called blocked by
}

// mostChanges bounds how many nodes may change between two looks until the first of them are left out.
const mostChanges = 100_000

func newStory() *story {
	return &story{tracker: noderoll.NewTrackerWithOptions(noderoll.TrackerOptions{Limit: mostChanges}), nodes: map[string]*seen{}}
}

// look takes one look at the group and returns what is new.
func (s *story) look(at time.Duration, now noderoll.Snapshot) []noderoll.Entry {
	var out []noderoll.Entry
	emit := func(e noderoll.Entry) { e.At = at; out = append(out, e) }
	before := s.last
	first := before.Nodes == nil
	if s.last = now; first || s.stirred(&before) {
		s.moved = at
	}
	views := make(map[string]*noderoll.NodeView, len(now.Nodes))
	for i := range now.Nodes {
		views[now.Nodes[i].Name] = &now.Nodes[i]
	}
	s.tracker.Observe(now)
	for _, e := range s.tracker.Entries() {
		if e.Seq <= s.seq {
			continue
		}
		s.seq = e.Seq
		kind := e.Kind
		if v := views[e.Node]; kind == noderoll.EvtDraining && v != nil && v.Cordoned {
			kind = noderoll.EvtCordoned
		}
		emit(noderoll.Entry{Kind: kind, Node: e.Node})
		if kind == noderoll.EvtNotReady || kind == noderoll.EvtOnline && now.OffTarget == now.Total {
			continue // comes and goes, and is no roll
		}
		s.begin(max(before.OffTarget, now.OffTarget))
	}
	for name := range s.nodes {
		if views[name] == nil {
			delete(s.nodes, name)
		}
	}
	for i := range now.Nodes {
		s.node(at, &now.Nodes[i], emit)
	}
	s.images(&now)
	if s.desired > 0 && !s.over && now.Complete() && (now.Total == s.desired || at-s.moved >= noderoll.StillAfter) {
		s.over = true
		emit(noderoll.Entry{Kind: noderoll.EvtComplete, Message: phrase.Count(now.Total, "node") + " on target"})
	}
	return out
}

// stirred reports whether a node, or the pods of a draining one, have changed.
func (s *story) stirred(before *noderoll.Snapshot) bool {
	if len(before.Nodes) != len(s.last.Nodes) {
		return true
	}
	for i := range s.last.Nodes {
		a, b := &before.Nodes[i], &s.last.Nodes[i]
		if a.Name != b.Name || a.UID != b.UID || a.Phase != b.Phase || a.OnTarget != b.OnTarget || a.Cordoned != b.Cordoned || b.Pods < a.Pods {
			return true
		}
	}
	return false
}

// begin notes how many nodes a roll has to replace, at its first transition.
func (s *story) begin(off int) {
	if off > 0 && (s.desired == 0 || s.over) {
		s.desired, s.over = off, false
	}
}

// node looks at one node: whether somebody drains it now, and whether that is
// blocked. A node from which nobody evicts is blocked only where nobody is drained and
// nothing moves: a drain that is refused from its first request shows nothing else.
func (s *story) node(at time.Duration, v *noderoll.NodeView, emit func(noderoll.Entry)) {
	n := s.nodes[v.Name]
	if n == nil || n.uid != v.UID {
		n = &seen{uid: v.UID, cordoned: v.Cordoned}
		s.nodes[v.Name] = n
	}
	draining := v.Phase == noderoll.PhaseDraining
	if n.cordoned && draining && !v.Cordoned {
		emit(noderoll.Entry{Kind: noderoll.EvtDraining, Node: v.Name})
	}
	if n.cordoned = draining && v.Cordoned; draining && n.drained == v.Cordoned {
		n.drained, n.held = !v.Cordoned, false // waits for another reason
	}
	switch {
	case v.HeldBy == "" || !draining:
		if n.blocked != "" && draining {
			emit(noderoll.Entry{Kind: noderoll.EvtUnblocked, Node: v.Name})
		}
		n.held, n.blocked = false, ""
		return
	case !n.held:
		n.held, n.since = true, at
	}
	from := n.since
	if v.Cordoned {
		if s.last.Draining > s.last.Cordoned {
			return
		}
		from = max(from, s.moved)
	}
	if n.blocked == "" && at-from >= noderoll.BlockedAfter {
		n.blocked = v.HeldBy
		emit(noderoll.Entry{
			Kind: noderoll.EvtBlocked, Node: v.Name, Object: "PodDisruptionBudget/" + v.HeldBy, Reason: "DisruptionBudget",
			Message: phrase.Count(v.Pods, "pod") + " left",
		})
	}
}

// images finds what most nodes off target run, and most of those on it.
func (s *story) images(now *noderoll.Snapshot) {
	old, young := map[string]int{}, map[string]int{}
	for i := range now.Nodes {
		if v := &now.Nodes[i]; v.Image != "" && v.OnTarget {
			young[v.Image]++
		} else if v.Image != "" {
			old[v.Image]++
		}
	}
	if image := most(old); image != "" {
		s.from = image
	}
	if image := most(young); image != "" {
		s.to = image
	}
}

// most is the key with the largest count, of several the first by name.
func most(count map[string]int) string {
	best := ""
	for key, n := range count {
		if best == "" || n > count[best] || n == count[best] && key < best {
			best = key
		}
	}
	return best
}

// fill puts into a frame what the story knows besides the snapshot.
func (s *story) fill(f *render.Frame) {
	f.Desired, f.Rolling, f.FromImage, f.ToImage = s.desired, s.desired > 0 && !s.over, s.from, s.to
	if f.Desired == 0 { // who comes in the middle of a roll counts what is left of it
		f.Desired = s.last.OffTarget
	}
	if f.ToImage == "" && f.FromImage != "" {
		if f.ToImage = "…"; !f.Rolling { // nothing shows a roll yet
			f.ToImage = f.FromImage
		}
	}
	f.Blocked = map[string]string{}
	for name, n := range s.nodes {
		if n.blocked != "" {
			f.Blocked[name] = n.blocked
		}
	}
}
