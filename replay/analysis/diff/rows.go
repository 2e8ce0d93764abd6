package diff

import (
	"fmt"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/replay/analysis"
)

// rolls compares the rolls of a group in their order.
func (c *comparison) rolls() {
	a, b := c.a.rolls(), c.b.rolls()
	for _, label := range both(a, b) {
		x, y := pair(c, ScopeRoll, label, c.a.Rolls, c.b.Rolls, a, b)
		c.compare(ScopeRoll, label, ofRoll(x), ofRoll(y), func(measure string, delta time.Duration) []Reason {
			if why := reasons(c.a.savings(x), c.b.savings(y), delta); len(why) > 0 || measure == "outcome" {
				return why
			}
			return reasons(paths(x), paths(y), delta)
		})
	}
}

// rolls are the places of the rolls by their labels.
func (s *side) rolls() map[string]int {
	all, number := map[string]int{}, map[string]int{}
	for i := range s.Rolls {
		label := s.groups[s.Rolls[i].Group]
		if pods := s.Rolls[i].Pods; pods != "" {
			label = "pods " + phrase.Escaped(pods)
		}
		number[label]++
		if n := number[label]; n > 1 {
			label = fmt.Sprintf("%s (roll %d)", label, n)
		}
		all[label] = i
	}
	return all
}

func ofRoll(r *analysis.Roll) measures {
	if r == nil {
		return nil
	}
	return measures{
		"duration": duration(r.Duration), "outcome": word(string(r.Outcome)),
		"nodes replaced": count(r.Replaced), "nodes joined": count(r.Joined), "nodes left": count(r.Left),
	}
}

// paths are what a roll's critical path is made of.
func paths(r *analysis.Roll) map[cause]time.Duration {
	all := map[cause]time.Duration{}
	if r != nil {
		for _, step := range r.Path {
			kind := string(step.Phase)
			if step.Wait != "" {
				kind += ", " + string(step.Wait)
			}
			all[cause{kind, ""}] += step.Duration
		}
	}
	return all
}

// parts are the phases of a node's life with what they took, that which the tape's end cuts off included.
func parts(n *analysis.Node) map[analysis.Phase]*time.Duration {
	if n == nil {
		return nil
	}
	all := map[analysis.Phase]*time.Duration{
		analysis.PhaseBooting: n.Boot, analysis.PhaseJoining: n.Join, analysis.PhaseCordoned: n.Cordon,
		analysis.PhaseDraining: n.Drain, analysis.PhaseTerminating: n.Termination,
	}
	if phase, took := unfinished(n); phase != "" && all[phase] == nil {
		all[phase] = &took
	}
	return all
}

// unfinished is the phase in which the tape's end finds a node, and what it took up to there. Those that have no end of their
// own, as serving, aren't meant. Without Series only drains are known.
func unfinished(n *analysis.Node) (phase analysis.Phase, took time.Duration) {
	switch last := len(n.Spans) - 1; {
	case n.Terminated != nil:
	case n.DrainUnfinished && n.Drain != nil:
		return analysis.PhaseDraining, *n.Drain
	case last >= 0:
		switch s := n.Spans[last]; s.Phase {
		case analysis.PhaseJoining, analysis.PhaseCordoned, analysis.PhaseDraining, analysis.PhaseTerminating:
			return s.Phase, s.To.At - s.From.At
		}
	}
	return "", 0
}

// phases compares what the nodes of one role in a group took for each phase, all together and the slowest.
func (c *comparison) phases() {
	a, b := c.a.phases(), c.b.phases()
	inA, inB := slowest(a), slowest(b)
	for _, label := range both(a, b) {
		x, y := a[label], b[label]
		pair(c, ScopePhase, label, c.a.Nodes, c.b.Nodes, inA, inB)
		c.compare(ScopePhase, label, x.measures(), y.measures(), func(_ string, delta time.Duration) []Reason {
			return reasons(x.causes(), y.causes(), delta)
		})
	}
}

type phase struct {
	nodes          int
	unfinished     int // of nodes, as the tape ends
	total, longest time.Duration
	slowest        int // the place of the node that took longest
	waits          map[cause]time.Duration
}

func (p *phase) measures() measures {
	if p == nil {
		return nil
	}
	m := measures{"nodes": count(p.nodes), "longest": duration(p.longest), "all together": duration(p.total)}
	if p.unfinished > 0 {
		m["unfinished"] = count(p.unfinished)
	}
	return m
}

func (p *phase) causes() map[cause]time.Duration {
	if p == nil {
		return nil
	}
	return p.waits
}

func (s *side) phases() map[string]*phase {
	all := map[string]*phase{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		open, _ := unfinished(n)
		for name, took := range parts(n) {
			if took == nil {
				continue
			}
			label := fmt.Sprintf("%s %s, %s", s.groups[n.Group], n.Role, name)
			p := all[label]
			if p == nil {
				p = &phase{waits: map[cause]time.Duration{}}
				all[label] = p
			}
			p.nodes++
			if name == open {
				p.unfinished++
			}
			p.total += *took
			if p.nodes == 1 || *took > p.longest {
				p.longest, p.slowest = *took, i
			}
			s.waits(p.waits, n, name)
		}
	}
	return all
}

func slowest(phases map[string]*phase) map[string]int {
	all := make(map[string]int, len(phases))
	for label, p := range phases {
		all[label] = p.slowest
	}
	return all
}

// nodes compares each node with the one in its place.
func (c *comparison) nodes() {
	for _, label := range both(c.a.nodes, c.b.nodes) {
		x, y := pair(c, ScopeNode, label, c.a.Nodes, c.b.Nodes, c.a.nodes, c.b.nodes)
		c.compare(ScopeNode, label, ofNode(x), ofNode(y), func(measure string, delta time.Duration) []Reason {
			return reasons(c.a.waitsOf(x, measure), c.b.waitsOf(y, measure), delta)
		})
	}
}

func ofNode(n *analysis.Node) measures {
	if n == nil {
		return nil
	}
	m := measures{}
	if n.PodsToEvict > 0 {
		m["pods to evict"] = count(n.PodsToEvict)
	}
	for name, took := range parts(n) {
		if took != nil {
			m[string(name)] = duration(*took)
		}
	}
	if phase, _ := unfinished(n); phase != "" {
		m["unfinished"] = word(string(phase))
	}
	return m
}

func (s *side) waitsOf(n *analysis.Node, phase string) map[cause]time.Duration {
	all := map[cause]time.Duration{}
	s.waits(all, n, analysis.Phase(phase))
	return all
}

func (c *comparison) workloads() {
	a, b := map[string]int{}, map[string]int{}
	for s, all := range map[*side]map[string]int{c.a: a, c.b: b} {
		for i := range s.Workloads {
			all[s.workload(&s.Workloads[i])] = i
		}
	}
	for _, label := range both(a, b) {
		x, y := pair(c, ScopeWorkload, label, c.a.Workloads, c.b.Workloads, a, b)
		c.compare(ScopeWorkload, label, ofWorkload(x), ofWorkload(y), nil)
	}
}

// workload is the label of a workload.
func (s *side) workload(w *analysis.Workload) string {
	if w.Kind == "Pod" {
		if label := s.static(w.Namespace + "/" + w.Name); label != "" {
			return label
		}
	}
	return phrase.Escaped(strings.Join([]string{w.Kind, w.Namespace, w.Name}, "/"))
}

func ofWorkload(w *analysis.Workload) measures {
	if w == nil {
		return nil
	}
	return measures{
		"replicas": count(w.Replicas), "least available": count(w.LeastAvailable), "wanted": count(w.Wanted),
		"below wanted": duration(w.BelowWanted), "below replicas": duration(w.BelowReplicas), "refused": duration(w.Refused),
		"evicted": count(w.Evicted), "refusals": count(w.Refusals), "deleted": count(w.Deleted), "lost": count(w.Lost),
		"restarts": count(w.Restarts), "pending": duration(w.Pending), "longest wait": duration(w.LongestWait),
	}
}

func (c *comparison) budgets() {
	a, b := map[string]int{}, map[string]int{}
	for s, all := range map[*side]map[string]int{c.a: a, c.b: b} {
		for i, p := range s.Budgets {
			all["PodDisruptionBudget/"+phrase.Escaped(p.Namespace+"/"+p.Name)] = i
		}
	}
	for _, label := range both(a, b) {
		x, y := pair(c, ScopeBudget, label, c.a.Budgets, c.b.Budgets, a, b)
		c.compare(ScopeBudget, label, ofBudget(x), ofBudget(y), nil)
	}
}

func ofBudget(b *analysis.Budget) measures {
	if b == nil {
		return nil
	}
	return measures{
		"at zero": duration(b.AtZero), "held": duration(b.Held), "nodes held": count(len(b.HeldNodes)), "refusals": count(b.Refusals),
	}
}

// findings compares what findings of one kind about one object cost.
func (c *comparison) findings() {
	a, inA := c.a.found()
	b, inB := c.b.found()
	for _, label := range both(a, b) {
		pair(c, ScopeFinding, label, c.a.Findings, c.b.Findings, inA, inB)
		c.compare(ScopeFinding, label, a[label], b[label], nil)
	}
}
