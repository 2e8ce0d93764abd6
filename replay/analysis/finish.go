package analysis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/replay/analysis/rolls"
)

// finish ends the tape and puts the analysis together.
func (s *reading) finish() *Analysis {
	a := s.a
	for _, k := range []*resource{s.nodeKind, s.podKind} {
		if k != nil && k.started {
			s.synced(k)
		}
	}
	for _, p := range s.allPods {
		if !p.gone {
			p.workload.pended(p, s.now)
			s.leaveGate(p)
		}
	}
	for _, n := range s.allNodes {
		if !n.terminatedAt.is() {
			n.close(s, true)
		}
	}
	s.roles()
	for _, n := range s.allNodes {
		if n.scope {
			s.finishNode(n)
		}
	}
	a.Nodes = []Node{}
	all := slices.Clone(s.allNodes)
	slices.SortStableFunc(all, func(x, y *node) int {
		return cmp.Or(cmp.Compare(x.appeared.At, y.appeared.At), strings.Compare(x.Name, y.Name))
	})
	for _, n := range all {
		if n.scope {
			a.Nodes = append(a.Nodes, n.Node)
		}
	}
	a.Budgets = []Budget{}
	slices.SortFunc(s.budgets, func(x, y *budget) int { return strings.Compare(x.key(), y.key()) })
	for _, b := range s.budgets {
		a.Budgets = append(a.Budgets, b.close(s))
	}
	s.finishWorkloads()
	s.finishRolls()
	a.Findings = s.findings()
	if s.o.Series {
		s.finishPods()
	}
	return a
}

func (s *reading) finishWorkloads() {
	s.a.Workloads = []Workload{}
	for _, p := range s.allPods {
		p.workload.Refused += p.held.refused
	}
	for _, w := range s.workloads {
		s.a.Workloads = append(s.a.Workloads, w.close(s.now))
	}
	slices.SortFunc(s.a.Workloads, func(x, y Workload) int {
		return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name), strings.Compare(x.Kind, y.Kind))
	})
}

// roles says what the tape's rolls do with each node: one of the beginning is old where it goes, is cordoned, or runs
// something else than the nodes that join its group.
func (s *reading) roles() {
	images := map[string]map[string]bool{} // of nodes that joined, by group
	for _, n := range s.allNodes {
		s.groups[n.Group] = append(s.groups[n.Group], n)
		if !n.initial {
			if images[n.Group] == nil {
				images[n.Group] = map[string]bool{}
			}
			images[n.Group][n.Image] = true
		}
	}
	for _, n := range s.allNodes {
		switch young := images[n.Group]; {
		case !n.initial:
			n.Role = RoleNew
		case n.terminatedAt.is() || n.going() || len(young) > 0 && !young[n.Image]:
			n.Role = RoleOld
		default:
			n.Role = RoleKept
		}
	}
}

// finishNode works out a node's durations, and gathers what it waited for.
func (s *reading) finishNode(n *node) {
	between := func(from, to *Moment) *time.Duration {
		if from == nil || to == nil || to.At < from.At {
			return nil
		}
		d := to.At - from.At
		return &d
	}
	n.Boot = between(n.Requested, n.Joined)
	n.Join = between(n.Joined, n.Node.Ready)
	n.Cordon = between(n.Cordoned, n.DrainBegan)
	n.Drain = between(n.DrainBegan, n.Drained)
	n.Termination = between(n.Drained, n.Terminated)
	if n.DrainBegan != nil && n.Drained == nil && n.Terminated == nil {
		n.DrainUnfinished = true
		n.Drain = between(n.DrainBegan, &s.now)
	}
	n.Waits = append(n.Waits, s.waits(n)...)
	slices.SortStableFunc(n.Waits, func(x, y Wait) int {
		return cmp.Or(cmp.Compare(x.From.At, y.From.At), cmp.Compare(x.To.At, y.To.At), cmp.Compare(x.Kind, y.Kind), strings.Compare(x.Object, y.Object))
	})
}

// finishPods lists the lives of all pods.
func (s *reading) finishPods() {
	at := func(m Moment) *Moment {
		if !m.is() {
			return nil
		}
		return &m
	}
	s.a.Pods = []Pod{}
	for _, p := range s.allPods {
		o := Pod{
			Namespace: p.namespace, Name: p.name, UID: p.uid, Workload: p.workload.path(), Evicted: p.evicted,
			Created: at(p.created), Scheduled: at(p.scheduled), Ready: at(p.readyAt), Deleted: at(p.deleted), Gone: at(p.goneAt),
		}
		if p.place != nil {
			o.Node = p.place.name
		}
		s.a.Pods = append(s.a.Pods, o)
	}
}

// finishRolls takes over the rolls that were found.
func (s *reading) finishRolls() {
	s.a.Rolls = []Roll{}
	for _, found := range s.finder.Found() {
		if found.Pods == nil && !s.chosen(found.Nodegroup) {
			continue
		}
		r := Roll{
			Group: found.Nodegroup, Start: Moment{found.Start, found.StartLine}, End: Moment{found.End, found.EndLine},
			Outcome: Outcome(found.Outcome), Replaced: found.Replaced, Joined: found.Joined, Left: found.Left, Path: []Step{}, Savings: []Saving{},
		}
		if found.Pods != nil {
			r.Pods = found.Pods.Scope
		} else if !s.apart(&r) {
			r.Left = s.old(&r)
		}
		if found.Outcome == rolls.Unfinished && (r.Left > 0 || s.working(r.Group)) {
			r.End = s.now
		}
		r.Duration = r.End.At - r.Start.At
		s.trace(&r)
		s.a.Rolls = append(s.a.Rolls, r)
	}
}

// apart reports whether the images of a group's nodes tell those apart that a roll has left and that it has made. Otherwise
// all nodes of the beginning count as old in a feed, those as well that took no part in what ended others.
func (s *reading) apart(r *Roll) bool {
	first := ""
	for _, n := range s.groups[r.Group] {
		switch {
		case r.End.before(n.appeared) || n.terminatedAt.is() && !r.End.before(n.terminatedAt):
		case first == "":
			first = n.Image
		case n.Image != first:
			return true
		}
	}
	return r.Outcome == Complete
}

// old counts the nodes of the beginning that a roll was to replace and that are there at its end.
func (s *reading) old(r *Roll) (count int) {
	for _, n := range s.groups[r.Group] {
		if n.Role == RoleOld && !r.End.before(n.appeared) && !(n.terminatedAt.is() && !r.End.before(n.terminatedAt)) {
			count++
		}
	}
	return count
}

// chosen reports whether a node of a group is in scope.
func (s *reading) chosen(group string) bool {
	return slices.ContainsFunc(s.groups[group], func(n *node) bool { return n.scope })
}

// working reports whether something is under way in a group when the tape ends.
func (s *reading) working(group string) bool {
	return slices.ContainsFunc(s.groups[group], func(n *node) bool {
		return !n.terminatedAt.is() && (n.going() || n.phase == PhaseJoining)
	})
}
