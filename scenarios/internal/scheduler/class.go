package scheduler

import (
	"fmt"
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// podClass is the pods of one template: the scheduler finds a node for one of
// them as for any other.
type podClass struct {
	*podFamily
	template *kube.Template
	need     component.Room
	scored   component.Room
	sought   component.Room // as it counts itself where nodes are compared
	scoredBy *need
	hard     []kube.Spread // DoNotSchedule
	soft     []kube.Spread // ScheduleAnyway, or what the scheduler spreads by anyway
	images   []string      // of the containers

	epoch, seen int // of the groups that were looked at
	open        []feasibleGroup
	shut        []infeasibleGroup

	placed  []placedLabels
	parked  []*waitingPod // those that fitted nowhere, in that order
	flush   bool          // a flush of them is in the loop
	failure failure
}

// feasibleGroup is nodes on which pods of the class may run.
type feasibleGroup struct {
	*NodeGroup
	avoided int // taints of PreferNoSchedule that the pods don't tolerate
}

// infeasibleGroup is nodes on which they may not, and why.
type infeasibleGroup struct {
	*NodeGroup
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
var spreadAnyway = []kube.Spread{
	{MaxSkew: 3, TopologyKey: component.LabelHostname, WhenUnsatisfiable: "ScheduleAnyway"},
	{MaxSkew: 5, TopologyKey: component.LabelZone, WhenUnsatisfiable: "ScheduleAnyway"},
}

// classOf returns the class of a pod.
func (s *Scheduler) classOf(p *kube.Pod) *podClass {
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

func (s *Scheduler) newClass(p *kube.Pod) *podClass {
	t := p.Template
	cpu, memory := p.Requests()
	c := &podClass{template: t, need: component.Room{CPU: cpu, Memory: memory, Pods: 1}, scored: component.Room{CPU: cpu, Memory: memory, Pods: 1}, images: imagesOf(t), epoch: -1}
	if cpu == 0 {
		c.scored.CPU = littleCPU
	}
	if memory == 0 {
		c.scored.Memory = littleMemory
	}
	if t.Demands != nil && t.Demands.Weighed != nil {
		c.scored.CPU, c.scored.Memory = t.Demands.Weighed.CPU, t.Demands.Weighed.Memory
	}
	c.sought = c.scored
	if t.Demands != nil && t.Demands.Sought != nil {
		c.sought.CPU, c.sought.Memory = t.Demands.Sought.CPU, t.Demands.Sought.Memory
	}
	of := need{c.need, c.sought}
	if c.scoredBy = s.needs[of]; c.scoredBy == nil {
		c.scoredBy = &of
		s.needs[of] = &of
	}
	spread := t.Spread
	if t.Demands != nil && len(t.Demands.Spread) > 0 {
		spread = nil // they are counted as they say
	}
	for _, constraint := range spread {
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
	if a := byGroup(t); a != nil {
		for _, term := range a.Required {
			for _, r := range term.Labels {
				s.selectBy(kube.Pairs{{Key: r.Key}})
			}
		}
	}
	for _, constraint := range spread {
		if constraint.TopologyKey != component.LabelHostname {
			s.selectBy(kube.Pairs{{Key: constraint.TopologyKey}})
		}
	}
	c.podFamily = s.familyOf(c)
	s.byTemplate[t] = c
	s.classes = append(s.classes, c)
	return c
}

// spreads reports whether pods of the class are kept evenly: then any node that changes or goes may help one
// (isSchedulableAfterNodeChange of pkg/scheduler/framework/plugins/podtopologyspread/plugin.go).
func (c *podClass) spreads() bool {
	return len(c.hard) > 0 || c.template.Demands != nil && slices.ContainsFunc(c.template.Demands.Spread, func(t kube.SpreadTerm) bool { return t.Hard })
}

// sort brings a class's lists of groups up to date.
func (s *Scheduler) sort(c *podClass) {
	if c.epoch != s.epoch {
		c.epoch, c.seen, c.open, c.shut = s.epoch, 0, nil, nil
	}
	for ; c.seen < len(s.inOrder); c.seen++ {
		g := s.inOrder[c.seen]
		if reason := s.Refusal(c.template, g); reason != "" {
			c.shut = append(c.shut, infeasibleGroup{g, reason})
			continue
		}
		o := feasibleGroup{NodeGroup: g}
		for _, t := range g.Taints {
			if t.Effect == component.EffectPreferNoSchedule && !component.Tolerated(c.template, t) {
				o.avoided++
			}
		}
		c.open = append(c.open, o)
	}
}

// Refusal says why no pod of a template may run on a group's nodes, or "":
// the filters NodeUnschedulable, TaintToleration and NodeAffinity, in this order.
func (s *Scheduler) Refusal(t *kube.Template, g *NodeGroup) string {
	if g.unschedulable && !component.Tolerated(t, kube.Taint{Key: component.TaintUnschedulable, Effect: component.EffectNoSchedule}) {
		return "node(s) were unschedulable"
	}
	for _, taint := range g.Taints {
		if taint.Effect != component.EffectPreferNoSchedule && !component.Tolerated(t, taint) {
			return s.untolerated(taint)
		}
	}
	if !g.Labels.Holds(t.NodeSelector) || !byGroup(t).Allows("", g.Labels) {
		return reasonAffinity
	}
	return ""
}

// untolerated is the reason of the filter TaintToleration, which keeps the taint
// for itself since 1.35, and since a patch of 1.34
// (kubernetes/kubernetes#134740 and #135023).
func (s *Scheduler) untolerated(t kube.Taint) string {
	if v := s.Env.Version; v.Minor > 34 || v.Minor == 34 && v.Patch >= 2 {
		return "node(s) had untolerated taint(s)"
	}
	return fmt.Sprintf("node(s) had untolerated taint {%s: %s}", t.Key, t.Value)
}

// fewestInZone returns the number of pods of the class in the emptiest zone, of those that have a node that the
// template selects. Cordons and taints don't matter (nodeTaintsPolicy: Ignore).
func (s *Scheduler) fewestInZone(c *podClass) int {
	fewest := -1
	for _, g := range s.inOrder {
		if g.count == 0 || g.zone == 0 || !g.Labels.Holds(c.template.NodeSelector) {
			continue
		}
		if in := c.in(g.zone); fewest < 0 || in < fewest {
			fewest = in
		}
	}
	return max(fewest, 0)
}
