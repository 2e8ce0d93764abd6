package scheduler

import (
	"slices"
	"strconv"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// schedNode is a node as the scheduler sees it.
type schedNode struct {
	node   *kube.Node
	number int // of the node's place in each class's counts
	group  *NodeGroup
	place  int // in its group
	gone   bool

	allocatable component.Room
	used        component.Room
	kept        component.Room // of what is used, for nominees: nodes are compared without it
	// scored are requests as the scores take them: a pod that asks for nothing
	// counts as if it asked for a little.
	scored component.Room
	// nominees are pods for which others make room here; it counts as used.
	nominees []*waitingPod

	// What only clients' pods ask for: how much of further resources there is and is used, and the ports that are taken.
	more, moreUsed map[string]int64
	ports          map[kube.HostPort]int

	volumes     map[ClaimName]int // pods by the claim that they use
	mostVolumes int
}

func (n *schedNode) free() component.Room { return n.allocatable.Minus(n.used) }

// resized notes that a node's room is another than before.
func (n *schedNode) resized() {
	n.group.seats[n.place].scoreFor = nil
	n.group.rooms.set(n.place, n.free())
}

// NodeGroup is nodes that no pod can tell apart but by their room and their
// names: equal in zone, taints, cordon, and the labels that any pod selects by.
type NodeGroup struct {
	key           string
	unschedulable bool
	Taints        []kube.Taint
	Labels        kube.Pairs
	zone          int // its number; 0 is none

	seats  []seat // by place
	empty  []int  // places
	count  int
	rooms  roomTree
	cursor int // the place at which the next search begins
}

// seat is a node's place in its group, with what is looked at of each node that may be the best. The nodes that are compared
// are neighbours, and what they are compared by comes from memory at once.
type seat struct {
	node   *schedNode // nil for none
	number int
	zone   int
	// score is the node's by its room for pods of a need, as long as the room doesn't change.
	score    int64
	scoreFor *need
}

// need is what pods are scored by; classes of one need share it.
type need struct{ need, sought component.Room }

func (g *NodeGroup) add(n *schedNode) {
	if len(g.empty) > 0 {
		n.place = g.empty[len(g.empty)-1]
		g.empty = g.empty[:len(g.empty)-1]
	} else {
		n.place = len(g.seats)
		g.seats = append(g.seats, seat{})
	}
	n.group = g
	g.seats[n.place] = seat{node: n, number: n.number, zone: g.zone}
	g.count++
	g.rooms.grow(n.place)
	g.rooms.set(n.place, n.free())
}

func (g *NodeGroup) remove(n *schedNode) {
	g.seats[n.place] = seat{}
	g.empty = append(g.empty, n.place)
	g.count--
	g.rooms.set(n.place, nothing)
	n.group = nil
}

// groupOf finds the group that a node belongs to, or starts it.
func (s *Scheduler) groupOf(n *kube.Node) *NodeGroup {
	b := s.scratch[:0]
	b = strconv.AppendBool(b, n.Unschedulable)
	for _, t := range n.Taints {
		b = append(append(append(append(append(append(append(b, 0), t.Key...), 1), t.Value...), 1), t.Effect...), 1)
	}
	for _, k := range s.selected {
		b = append(b, 2)
		if v, ok := n.Labels.Lookup(k); ok {
			b = append(append(b, 3), v...)
		}
	}
	s.scratch = b
	if g := s.groups[string(b)]; g != nil {
		return g
	}
	g := &NodeGroup{key: string(b), unschedulable: n.Unschedulable, zone: s.zoneNumber(n.Labels.Get(component.LabelZone))}
	for _, t := range n.Taints {
		g.Taints = append(g.Taints, kube.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	for _, k := range s.selected {
		if v, ok := n.Labels.Lookup(k); ok {
			g.Labels = append(g.Labels, kube.Pair{Key: k, Value: v})
		}
	}
	s.groups[g.key] = g
	s.inOrder = append(s.inOrder, g)
	return g
}

func (s *Scheduler) zoneNumber(zone string) int {
	if zone == "" {
		return 0
	}
	i := slices.Index(s.zones, zone)
	if i < 0 {
		i = len(s.zones)
		s.zones = append(s.zones, zone)
	}
	return i
}

// selectBy makes labels part of what tells groups apart.
func (s *Scheduler) selectBy(keys kube.Pairs) {
	fresh := false
	for _, k := range keys {
		if i, found := slices.BinarySearch(s.selected, k.Key); !found {
			s.selected = slices.Insert(s.selected, i, k.Key)
			fresh = true
		}
	}
	if fresh {
		s.regroup()
	}
}

// regroup puts all nodes into groups again, and drops groups without nodes.
func (s *Scheduler) regroup() {
	s.groups, s.inOrder = map[string]*NodeGroup{}, nil
	s.epoch++
	for _, n := range s.Env.API.Nodes() {
		if sn := s.nodes[n.Name]; sn != nil {
			s.groupOf(n).add(sn)
		}
	}
}

// node follows the nodes of the API.
func (s *Scheduler) node(c kube.Change, old, n *kube.Node) {
	switch c {
	case kube.Added:
		s.addNode(n)
	case kube.Deleted:
		if sn := s.nodes[n.Name]; sn != nil && sn.node == n {
			s.dropNode(sn)
		}
	case kube.Modified:
		if sn := s.nodes[n.Name]; sn != nil && sn.node == n {
			s.changeNode(sn, old)
		}
	}
}

func (s *Scheduler) addNode(n *kube.Node) {
	sn := &schedNode{node: n, allocatable: component.AllocatableOf(n)}
	if len(s.numbers) > 0 {
		sn.number = s.numbers[len(s.numbers)-1]
		s.numbers = s.numbers[:len(s.numbers)-1]
	} else {
		sn.number = s.numbered
		s.numbered++
	}
	s.nodes[n.Name] = sn
	s.groupOf(n).add(sn)
	s.limitVolumes(sn)
	s.countImages(n.Images, 1)
	s.version++
	for _, f := range s.families {
		f.nodeAdded(n)
	}
	// Pods may be bound to a node that isn't there: one that comes back under
	// its name finds them.
	for _, p := range s.Env.API.PodsOn(n.Name) {
		if !p.Terminal() {
			s.take(sn, p)
			s.recount(p)
		}
	}
	s.opened(sn)
}

func (s *Scheduler) dropNode(sn *schedNode) {
	for _, f := range s.families {
		f.nodeDropped(sn)
	}
	for _, w := range sn.nominees {
		s.wake(w.class)
	}
	s.uncountNode(sn)
	s.countImages(sn.node.Images, -1)
	sn.group.remove(sn)
	sn.gone = true
	delete(s.nodes, sn.node.Name)
	s.numbers = append(s.numbers, sn.number)
	s.version++
	for _, c := range s.classes {
		if len(c.parked) > 0 && c.spreads() {
			s.wake(c)
		}
	}
}

func (s *Scheduler) changeNode(sn *schedNode, old *kube.Node) {
	n := sn.node
	changed := false
	if !slices.Equal(old.Allocatable, n.Allocatable) {
		sn.allocatable, sn.more = component.AllocatableOf(n), nil
		sn.resized()
		s.limitVolumes(sn)
		changed = true
	}
	if !kube.Identical(old.Images, n.Images) {
		s.countImages(old.Images, -1)
		s.countImages(n.Images, 1)
	}
	if old.Unschedulable != n.Unschedulable || !slices.Equal(old.Taints, n.Taints) || !slices.Equal(old.Labels, n.Labels) {
		if g := s.groupOf(n); g != sn.group {
			if !slices.Equal(old.Labels, n.Labels) {
				for _, f := range s.families {
					f.relabelled(sn, old, sn.group.zone, g.zone)
				}
			}
			sn.group.remove(sn)
			g.add(sn)
			changed = true
			s.tidy()
		}
	}
	if changed || s.podCounts != nil && !slices.Equal(old.Labels, n.Labels) {
		s.version++
		s.opened(sn)
	}
}

// tidy drops groups without nodes once they are the most.
func (s *Scheduler) tidy() {
	if len(s.inOrder) < 64 || len(s.inOrder) < 4*len(s.nodes)/3 {
		return
	}
	empty := 0
	for _, g := range s.inOrder {
		if g.count == 0 {
			empty++
		}
	}
	if 2*empty > len(s.inOrder) {
		s.regroup()
	}
}
