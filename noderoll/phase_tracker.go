package noderoll

import (
	"slices"
	"strings"
)

// phaseTracker remembers the phase of each node, sorted by name, and tells what a
// new observation changes. Tracker and Feed share it.
type phaseTracker struct {
	seeded bool
	nodes  []seenNode
}

type seenNode struct {
	name, uid string
	phase     Phase
}

// steps are the at most two transitions that one observation of a node makes;
// an empty kind is none.
type steps [2]EventKind

// observe replaces everything that is known by a snapshot and emits what
// changed: per node in order of name, then the nodes that are gone. The first
// call only remembers.
func (b *phaseTracker) observe(views []NodeView, emit func(node, uid string, kind EventKind)) {
	if b.seeded && b.sameNames(views) {
		for i := range views {
			b.nodes[i].tell(&views[i], emit)
		}
		return
	}
	views = sortedViews(views)
	if !b.seeded {
		b.seeded = true
		b.replace(views)
		return
	}
	moved := false // nodes came or went
	i := 0
	for j := range views {
		v := &views[j]
		for i < len(b.nodes) && b.nodes[i].name < v.Name {
			moved = true
			i++
		}
		if i < len(b.nodes) && b.nodes[i].name == v.Name {
			b.nodes[i].tell(v, emit)
			i++
			continue
		}
		moved = true
		if kind := kindOf(v.Phase); kind != "" {
			emit(v.Name, v.UID, kind)
		}
	}
	if !moved && i == len(b.nodes) {
		return
	}
	b.emitGone(views, emit)
	b.replace(views)
}

func (b *phaseTracker) emitGone(views []NodeView, emit func(node, uid string, kind EventKind)) {
	j := 0
	for i := range b.nodes {
		n := &b.nodes[i]
		for j < len(views) && views[j].Name < n.name {
			j++
		}
		if j == len(views) || views[j].Name != n.name {
			emit(n.name, n.uid, EvtTerminated)
		}
	}
}

func (b *phaseTracker) replace(views []NodeView) {
	next := b.nodes[:0]
	if cap(next) < len(views) {
		next = make([]seenNode, 0, len(views)+len(views)/8)
	}
	for i := range views {
		next = append(next, seenNode{views[i].Name, views[i].UID, views[i].Phase})
	}
	clear(b.nodes[min(len(next), len(b.nodes)):])
	b.nodes = next
}

// sameNames reports whether the views are of the very nodes that are known, in
// their order: the usual case, in which neither has to be sorted. Strings of one
// origin are equal by address, so that none of them is read.
func (b *phaseTracker) sameNames(views []NodeView) bool {
	if len(views) != len(b.nodes) {
		return false
	}
	for i := range views {
		if views[i].Name != b.nodes[i].name {
			return false
		}
	}
	return true
}

// tell takes in a further observation of the node of this name and emits what
// it changes.
func (n *seenNode) tell(v *NodeView, emit func(node, uid string, kind EventKind)) {
	if n.phase == v.Phase && n.uid == v.UID {
		return
	}
	old := n.uid
	for _, kind := range n.step(v) {
		if kind == EvtTerminated {
			emit(v.Name, old, kind)
		} else if kind != "" {
			emit(v.Name, v.UID, kind)
		}
	}
}

// step takes in a further observation of the node of this name.
func (n *seenNode) step(v *NodeView) (out steps) {
	if n.uid != v.UID && n.uid != "" && v.UID != "" {
		*n = seenNode{n.name, v.UID, v.Phase}
		return steps{EvtTerminated, kindOf(v.Phase)}
	}
	n.uid = v.UID
	if n.phase != v.Phase {
		n.phase = v.Phase
		out[0] = kindOf(v.Phase)
	}
	return out
}

// set takes in one node. Before the book is seeded it only remembers.
func (b *phaseTracker) set(v *NodeView) (out steps) {
	at, found := b.find(v.Name)
	if found {
		out = b.nodes[at].step(v)
	} else {
		b.nodes = slices.Insert(b.nodes, at, seenNode{v.Name, v.UID, v.Phase})
		out[0] = kindOf(v.Phase)
	}
	if !b.seeded {
		return steps{}
	}
	return out
}

// remove takes a node out and reports whether that is news.
func (b *phaseTracker) remove(name string) (uid string, gone bool) {
	at, found := b.find(name)
	if !found {
		return "", false
	}
	uid = b.nodes[at].uid
	b.nodes = slices.Delete(b.nodes, at, at+1)
	return uid, b.seeded
}

func (b *phaseTracker) find(name string) (int, bool) {
	return slices.BinarySearchFunc(b.nodes, name, func(n seenNode, name string) int { return strings.Compare(n.name, name) })
}

// sortedViews returns the views strictly sorted by name; of several of one
// name the last counts. Views that are sorted already are returned as they are.
func sortedViews(views []NodeView) []NodeView {
	sorted := true
	for i := 1; i < len(views) && sorted; i++ {
		sorted = views[i-1].Name < views[i].Name
	}
	if sorted {
		return views
	}
	own := slices.Clone(views)
	slices.Reverse(own)
	slices.SortStableFunc(own, func(a, b NodeView) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(own, func(a, b NodeView) bool { return a.Name == b.Name })
}

// changeSet holds what one change leaves behind for the Feed: the nodes whose view,
// pods or budgets it touched, their pools, and the pods that left a draining node.
type changeSet struct {
	nodes []*nodeRec
	pools []*pool
	left  []leftPod
	// Of a roll of pods: those whose update it touched, and what there is to tell.
	instances []*instance
	entries   []Entry
}

type leftPod struct {
	pool            *pool
	node            string
	namespace, name string
}

func (s *State) note(rec *nodeRec) {
	if s.changeSet != nil && !rec.noted {
		rec.noted = true
		s.changeSet.nodes = append(s.changeSet.nodes, rec)
	}
}

func (s *State) notePool(p *pool) {
	if s.changeSet != nil && !p.noted {
		p.noted = true
		s.changeSet.pools = append(s.changeSet.pools, p)
	}
}

// noteLeft notes a pod that a drain had to move and that is gone now, or ended.
func (s *State) noteLeft(key podKey, p *podRec) {
	if s.changeSet != nil && p.node != nil && p.node.view.Phase == PhaseDraining {
		s.changeSet.left = append(s.changeSet.left, leftPod{p.node.pool, p.node.name, key.namespace, key.name})
	}
}

func (j *changeSet) clear() {
	for i, rec := range j.nodes {
		rec.noted = false
		j.nodes[i] = nil
	}
	for i, p := range j.pools {
		p.noted = false
		j.pools[i] = nil
	}
	for i, p := range j.instances {
		p.noted = false
		j.instances[i] = nil
	}
	clear(j.left)
	clear(j.entries)
	j.instances, j.entries = j.instances[:0], j.entries[:0]
	j.nodes, j.pools, j.left = j.nodes[:0], j.pools[:0], j.left[:0]
}
