package autoscaler

import (
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// shrink takes nodes away that were idle for AutoscalerIdle. For as long after a
// scale-up nothing is taken (scale-down-delay-after-add, which has the same
// default as scale-down-unneeded-time).
//
// A node that no pod needs is marked so that the scheduler prefers others (core/scaledown/actuation/softtaint.go),
// and unmarked if it is needed again. One that goes is tainted, and terminated some seconds later
// (core/scaledown/actuation/actuator.go).
func (a *Autoscaler) shrink() {
	cooling := a.everGrown && a.env.Now()-a.grown < a.idleGrace
	softly, deletions := softTaintsAtOnce, deletionsAtOnce
	for _, g := range a.groups {
		deletions -= g.deleting
	}
	a.unmark(&softly)
	for _, g := range a.groups {
		removable := g.size() - g.deleting - g.Min
		if removable <= 0 || cooling {
			continue
		}
		goes := map[*scaledNode]bool{}
		for _, sn := range g.plan.stop {
			if sn.state == free && !sn.idle.IsZero() && removable > 0 && deletions > 0 {
				goes[sn] = true
				removable--
				deletions--
			}
		}
		for _, sn := range g.plan.stop {
			if goes[sn] {
				a.startDeletion(sn)
			}
		}
		for _, sn := range g.idleNodes(removable) {
			if softly > 0 && !sn.marked {
				softly--
				a.mark(sn)
			}
		}
	}
}

// idleNodes are up to so many idle nodes of a group that stay for now, by name.
func (g *scaledGroup) idleNodes(most int) []*scaledNode {
	var idle []*scaledNode
	for _, n := range g.open {
		if !n.idle.IsZero() {
			idle = append(idle, n)
		}
	}
	slices.SortFunc(idle, func(x, y *scaledNode) int {
		switch {
		case x.node.Name < y.node.Name:
			return -1
		case x.node.Name > y.node.Name:
			return 1
		}
		return 0
	})
	return idle[:min(max(most, 0), len(idle))]
}

// forgetIdle lets all nodes count as needed up to now (CleanUpUnneededNodes).
func (a *Autoscaler) forgetIdle() {
	for _, g := range a.groups {
		for _, n := range g.open {
			n.idle = time.Time{}
		}
	}
}

// mark taints a candidate for deletion.
func (a *Autoscaler) mark(sn *scaledNode) {
	sn.marked = true
	a.marked = append(a.marked, sn)
	a.env.API.UpdateNode(sn.node, func(n *kube.Node) {
		n.AddTaint(kube.Taint{Key: taintCandidate, Value: a.unix(), Effect: component.EffectPreferNoSchedule})
	})
}

// unmark takes the taint from nodes that are needed again, a few at once.
func (a *Autoscaler) unmark(softly *int) {
	a.marked = slices.DeleteFunc(a.marked, func(sn *scaledNode) bool {
		switch {
		case sn.node.Gone() || !sn.marked:
			return true
		case sn.state == away || sn.state == free && !sn.idle.IsZero() || *softly == 0:
			return false // it is idle, or another client's
		}
		*softly--
		sn.marked = false
		a.env.API.UpdateNode(sn.node, func(n *kube.Node) { n.RemoveTaint(taintCandidate, "") })
		return true
	})
}

func (a *Autoscaler) unix() string {
	return strconv.FormatInt(a.env.API.Now().Time().Unix(), 10)
}

// startDeletion taints a node and has it terminated, unless something comes between. The
// second event of the real one, "nodes removed by cluster autoscaler", falls prey
// to its own filter of one event per object and five minutes.
func (a *Autoscaler) startDeletion(sn *scaledNode) {
	a.env.API.UpdateNode(sn.node, func(n *kube.Node) {
		n.AddTaint(kube.Taint{Key: taintToBeDeleted, Value: a.unix(), Effect: component.EffectNoSchedule})
	})
	sn.toBeDeleted = true
	sn.group.deleting++
	a.become(sn, away)
	a.reports.node(sn.node, "ScaleDown", "marked the node as toBeDeleted/unschedulable")
	a.env.After(deleteDelay, func() { a.remove(sn) })
}

// remove terminates a doomed node, or lets it live: where it got pods, where another client took it over, or where
// the group has become small.
func (a *Autoscaler) remove(sn *scaledNode) {
	g, i := sn.group, sn.instance
	g.deleting--
	if sn.node.Gone() || i.State != cloud.Running {
		return
	}
	if g.size() > g.Min && sn.pods == 0 && !sn.node.Unschedulable && !sn.node.Terminating() && i.Notice == 0 {
		a.env.Cloud.Terminate(i, true)
		return
	}
	sn.toBeDeleted = false
	a.env.API.UpdateNode(sn.node, func(n *kube.Node) { n.RemoveTaint(taintToBeDeleted, "") })
	a.become(sn, a.stateOf(sn))
}
