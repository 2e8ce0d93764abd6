package actors

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/internal/api"
)

// podClass is the pods of one template: the scheduler finds a node for one of
// them as for any other. It knows how many of them run where.
//
// A topologySpreadConstraint counts the pods of its own template: its selector
// is taken to select these and no others, as those of workloads do.
type podClass struct {
	template *api.Template
	need     room
	scored   room
	hard     []api.Spread // DoNotSchedule
	soft     []api.Spread // ScheduleAnyway, or what the scheduler spreads by anyway

	epoch, seen int // of the groups that were looked at
	open        []openGroup
	shut        []shutGroup

	onNode []uint16 // pods by the node's number, none that terminates
	inZone []int
	// spans counts the nodes that the template selects by how many of its pods
	// they run; only for a hard constraint on hosts.
	spans []int

	placed  []placedLabels
	parked  []*waitingPod // those that fitted nowhere, in that order
	flush   bool          // a flush of them is in the loop
	failure failure
}

// openGroup is nodes on which pods of the class may run.
type openGroup struct {
	*nodeGroup
	avoided int // taints of PreferNoSchedule that the pods don't tolerate
}

// shutGroup is nodes on which they may not, and why.
type shutGroup struct {
	*nodeGroup
	reason string
}

// What a pod that asks for nothing counts as where nodes are scored
// (pkg/scheduler/util/pod_resources.go).
const (
	littleCPU    = 100
	littleMemory = 200 << 20
)

// The constraints of pods that have none of their own
// (pkg/scheduler/framework/plugins/podtopologyspread/plugin.go).
var spreadAnyway = []api.Spread{
	{MaxSkew: 3, TopologyKey: labelHostname, WhenUnsatisfiable: "ScheduleAnyway"},
	{MaxSkew: 5, TopologyKey: labelZone, WhenUnsatisfiable: "ScheduleAnyway"},
}

// classOf returns the class of a pod.
func (s *Scheduler) classOf(p *api.Pod) *podClass {
	if s.last != nil && s.last.template == p.Template {
		return s.last
	}
	c := s.byTemplate[p.Template]
	if c == nil {
		c = s.newClass(p)
	}
	s.last = c
	return c
}

func (s *Scheduler) newClass(p *api.Pod) *podClass {
	t := p.Template
	cpu, memory := p.Requests()
	c := &podClass{template: t, need: room{cpu, memory, 1}, scored: room{cpu, memory, 1}, epoch: -1}
	if cpu == 0 {
		c.scored.cpu = littleCPU
	}
	if memory == 0 {
		c.scored.memory = littleMemory
	}
	for _, constraint := range t.Spread {
		if constraint.WhenUnsatisfiable == "DoNotSchedule" {
			c.hard = append(c.hard, constraint)
		} else {
			c.soft = append(c.soft, constraint)
		}
	}
	if len(t.Spread) == 0 && p.Owner != nil && (p.Owner.Kind == "ReplicaSet" || p.Owner.Kind == "StatefulSet") {
		c.soft = spreadAnyway
	}
	s.selectBy(t.NodeSelector)
	for _, constraint := range t.Spread {
		if constraint.TopologyKey != labelHostname {
			s.selectBy(api.Pairs{{Key: constraint.TopologyKey}})
		}
	}
	s.byTemplate[t] = c
	s.classes = append(s.classes, c)
	for _, n := range s.env.API.Nodes() {
		c.nodeAdded(n)
	}
	return c
}

// sort brings a class's lists of groups up to date.
func (s *Scheduler) sort(c *podClass) {
	if c.epoch != s.epoch {
		c.epoch, c.seen, c.open, c.shut = s.epoch, 0, nil, nil
	}
	for ; c.seen < len(s.inOrder); c.seen++ {
		g := s.inOrder[c.seen]
		if reason := s.refusal(c.template, g); reason != "" {
			c.shut = append(c.shut, shutGroup{g, reason})
			continue
		}
		o := openGroup{nodeGroup: g}
		for _, t := range g.taints {
			if t.Effect == effectPrefer && !tolerated(c.template, t) {
				o.avoided++
			}
		}
		c.open = append(c.open, o)
	}
}

// refusal says why no pod of a template may run on a group's nodes, or "":
// the filters NodeUnschedulable, TaintToleration and NodeAffinity, in this order.
func (s *Scheduler) refusal(t *api.Template, g *nodeGroup) string {
	if g.unschedulable && !tolerated(t, api.Taint{Key: taintUnschedulable, Effect: effectNoSchedule}) {
		return "node(s) were unschedulable"
	}
	for _, taint := range g.taints {
		if taint.Effect != effectPrefer && !tolerated(t, taint) {
			return s.untolerated(taint)
		}
	}
	if !g.labels.Holds(t.NodeSelector) {
		return "node(s) didn't match Pod's node affinity/selector"
	}
	return ""
}

// untolerated is the reason of the filter TaintToleration, which keeps the taint
// for itself since 1.35, and since a patch of 1.34
// (kubernetes/kubernetes#134740 and #135023).
func (s *Scheduler) untolerated(t api.Taint) string {
	if v := s.env.Version; v.Minor > 34 || v.Minor == 34 && v.Patch >= 2 {
		return "node(s) had untolerated taint(s)"
	}
	return fmt.Sprintf("node(s) had untolerated taint {%s: %s}", t.Key, t.Value)
}

// count adds pods to those that run on a node. Zones count what runs on nodes
// that the template selects (nodeAffinityPolicy: Honor).
func (c *podClass) count(n *schedNode, by int) {
	if n.number >= len(c.onNode) {
		c.onNode = append(c.onNode, make([]uint16, n.number+1-len(c.onNode)+len(c.onNode)/2)...)
	}
	was := int(c.onNode[n.number])
	c.onNode[n.number] = uint16(was + by)
	if c.selects(n.node.Labels) {
		c.addZone(n.group.zone, by)
		if c.perHost() {
			c.span(was, -1)
			c.span(was+by, 1)
		}
	}
}

func (c *podClass) addZone(zone, by int) {
	for zone >= len(c.inZone) {
		c.inZone = append(c.inZone, 0)
	}
	c.inZone[zone] += by
}

func (c *podClass) on(n *schedNode) int {
	if n.number < len(c.onNode) {
		return int(c.onNode[n.number])
	}
	return 0
}

func (c *podClass) in(zone int) int {
	if zone < len(c.inZone) {
		return c.inZone[zone]
	}
	return 0
}

func (c *podClass) perHost() bool {
	for i := range c.hard {
		if c.hard[i].TopologyKey == labelHostname {
			return true
		}
	}
	return false
}

func (c *podClass) selects(labels api.Pairs) bool { return labels.Holds(c.template.NodeSelector) }

func (c *podClass) span(pods, by int) {
	for pods >= len(c.spans) {
		c.spans = append(c.spans, 0)
	}
	c.spans[pods] += by
}

func (c *podClass) nodeAdded(n *api.Node) {
	if c.perHost() && c.selects(n.Labels) {
		c.span(0, 1)
	}
}

// nodeDropped forgets the pods on a node that is gone.
func (c *podClass) nodeDropped(n *schedNode) {
	c.leave(n, n.node.Labels, n.group.zone)
	if c.on(n) > 0 {
		c.onNode[n.number] = 0
	}
}

// relabelled counts the pods of a node anew whose labels have changed.
func (c *podClass) relabelled(n *schedNode, old *api.Node, from, to int) {
	c.leave(n, old.Labels, from)
	if on := c.on(n); c.selects(n.node.Labels) {
		c.addZone(to, on)
		if c.perHost() {
			c.span(on, 1)
		}
	}
}

func (c *podClass) leave(n *schedNode, labels api.Pairs, zone int) {
	if on := c.on(n); c.selects(labels) {
		c.addZone(zone, -on)
		if c.perHost() {
			c.span(on, -1)
		}
	}
}

// fewestOnHost is how many pods of the class the emptiest host runs.
func (c *podClass) fewestOnHost() int {
	for pods, hosts := range c.spans {
		if hosts > 0 {
			return pods
		}
	}
	return 0
}

// fewestInZone is how many pods of the class the emptiest zone runs, of those
// that have a node that the template selects. Cordons and taints don't matter
// (nodeTaintsPolicy: Ignore).
func (s *Scheduler) fewestInZone(c *podClass) int {
	fewest := -1
	for _, g := range s.inOrder {
		if g.count == 0 || g.zone == 0 || !g.labels.Holds(c.template.NodeSelector) {
			continue
		}
		if in := c.in(g.zone); fewest < 0 || in < fewest {
			fewest = in
		}
	}
	return max(fewest, 0)
}
