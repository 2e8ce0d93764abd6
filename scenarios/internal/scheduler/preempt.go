package scheduler

import (
	"cmp"
	"math"
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// candidatesAtMost is the number of nodes that are tried for preemption: the least of DefaultPreemption, which takes
// a tenth of the nodes where that is more.
const candidatesAtMost = 100

const awaitsVictims = "not eligible due to a terminating pod on the nominated node."

// rank counts the pods on nodes that have a priority.
type rank struct {
	priority int32
	pods     int
}

func (s *Scheduler) rank(c *podClass, by int) {
	i, found := slices.BinarySearchFunc(s.ranks, c.template.Priority, func(r rank, p int32) int { return cmp.Compare(r.priority, p) })
	if !found {
		s.ranks = slices.Insert(s.ranks, i, rank{priority: c.template.Priority})
	}
	s.ranks[i].pods += by
}

// outranks reports whether any pod on a node is less important than a class.
func (s *Scheduler) outranks(c *podClass) bool {
	for _, r := range s.ranks {
		if r.pods > 0 {
			return r.priority < c.template.Priority
		}
	}
	return false
}

// findNominated returns the nominated node if the pod fits there now.
func (s *Scheduler) findNominated(p *kube.Pod, c *podClass, n *schedNode) *schedNode {
	if n == nil || !s.mayRun(p, c, n) || !n.free().Holds(c.need) || !s.demandOf(p).holds(n) {
		return nil
	}
	return n
}

// mayRun reports whether nothing but room could keep a pod from a node.
func (s *Scheduler) mayRun(p *kube.Pod, c *podClass, n *schedNode) bool {
	limits := s.limits(c)
	return s.Refusal(c.template, n.group) == "" && !s.elsewhere(p, n.group) && limits.zone(c, n.group.zone) && limits.host(c, n)
}

// failRanked is fail for a pod that may be important enough to take the place
// of others (Evaluator.Preempt of pkg/scheduler/framework/preemption).
func (s *Scheduler) failRanked(w *waitingPod, nominated *schedNode) {
	p, c := w.pod, w.class
	if !s.outranks(c) {
		s.fail(w)
		return
	}
	reasons, _ := s.reasons(p, c)
	if neverPreempts(p) {
		s.failWith(w, reasons.available(len(s.nodes))+s.afterFilter(notEligible), "")
		return
	}
	message := reasons.available(len(s.nodes))
	if nominated != nil && s.mayRun(p, c, nominated) && s.victimsLeave(nominated, c) {
		s.failWith(w, message+s.afterFilter(awaitsVictims), nominated.node.Name)
		s.nominate(w, nominated)
		return
	}
	all, preemption := s.candidates(p, c)
	if len(all) == 0 {
		s.failWith(w, message+s.afterFilter(preemption), "")
		return
	}
	best := slices.MinFunc(all, (*candidate).compare)
	s.outdo(best.node, c)
	s.failWith(w, message, best.node.node.Name)
	s.nominate(w, best.node)
	s.Env.After(component.RoundTrip, func() { s.evict(best.victims, p, best.node.node.Name) })
}

// neverPreempts reports whether a pod's priority gives it no other pod's place.
func neverPreempts(p *kube.Pod) bool {
	return p.Template.Demands != nil && p.Template.Demands.NeverPreempts
}

// victimsLeave reports whether a less important pod on a node terminates
// because of a preemption.
func (s *Scheduler) victimsLeave(n *schedNode, c *podClass) bool {
	return slices.ContainsFunc(s.Env.API.PodsOn(n.node.Name), func(v *kube.Pod) bool {
		target := v.Conditions.Get("DisruptionTarget")
		return v.Template.Priority < c.template.Priority && v.Terminating() && target != nil && target.Reason == "PreemptionByScheduler"
	})
}

// candidate is a node with the pods whose end would make room there, the most
// important first.
type candidate struct {
	node     *schedNode
	victims  []*kube.Pod
	violates int // budgets
}

// candidates are the nodes where a pod may take the place of others, or why there is none.
func (s *Scheduler) candidates(p *kube.Pod, c *podClass) (all []*candidate, why string) {
	var reasons ReasonCounts
	looked := 0
	limits, d := s.limits(c), s.demandOf(p)
	try := func(n *schedNode) {
		if d != nil {
			var unused ReasonCounts
			if d.excludes(n) || !s.explainNode(&unused, p, c, n, limits, d) {
				return
			}
		} else if !n.allocatable.Holds(c.need) || n.free().Holds(c.need) || !s.mayRun(p, c, n) {
			return
		}
		looked++
		victims := s.victimsOn
		if d != nil {
			victims = func(n *schedNode, c *podClass) (*candidate, []string) { return s.victimsWithout(n, p, c, d) }
		}
		one, why := victims(n, c)
		if one == nil {
			for _, reason := range why {
				reasons.Add(reason, 1)
			}
			return
		}
		all = append(all, one)
	}
	if p.Pinned != "" {
		if n := s.nodes[p.Pinned]; n != nil && s.Refusal(c.template, n.group) == "" {
			try(n)
		}
	} else {
		for i := range c.open {
			for k := range c.open[i].seats {
				n := c.open[i].seats[k].node
				if n != nil && len(all) < candidatesAtMost {
					try(n)
				}
			}
		}
	}
	reasons.Add(notHelpful, len(s.nodes)-looked)
	return all, reasons.available(len(s.nodes))
}

// victimsOn finds the fewest pods of a node whose end makes room for one of a
// class: all that are less important go, and the most important of them come
// back as long as there is room (SelectVictimsOnNode of
// pkg/scheduler/framework/plugins/defaultpreemption). Those whose budgets allow
// no disruption come back first.
func (s *Scheduler) victimsOn(n *schedNode, c *podClass) (*candidate, []string) {
	var less []*kube.Pod
	free := n.free()
	for _, v := range s.Env.API.PodsOn(n.node.Name) {
		if v.Template.Priority < c.template.Priority && !v.Terminal() {
			less = append(less, v)
			free = free.Plus(s.classOf(v).need)
		}
	}
	if len(less) == 0 {
		return nil, []string{noVictims}
	}
	if lacking := lacks(free, c.need); lacking != nil {
		return nil, lacking
	}
	slices.SortFunc(less, moreImportant)
	guarded := s.guarded(less)
	one := &candidate{node: n}
	for _, now := range [...]bool{true, false} {
		for i, v := range less {
			if guarded[i] != now {
				continue
			}
			if rest := free.Minus(s.classOf(v).need); rest.Holds(c.need) {
				free = rest
				continue
			}
			one.victims = append(one.victims, v)
			if now {
				one.violates++
			}
		}
	}
	slices.SortFunc(one.victims, moreImportant)
	return one, nil
}

// moreImportant puts pods of a higher priority first, then those that started
// first.
func moreImportant(a, b *kube.Pod) int {
	return cmp.Or(-cmp.Compare(a.Template.Priority, b.Template.Priority), cmp.Compare(a.Started, b.Started), cmp.Compare(a.Name, b.Name))
}

// guarded says which pods' ends would violate a budget, if they came in this
// order. The scheduler takes a budget without a selector for one of no pods
// (filterPodsWithPDBViolation), and the API server for one of all.
func (s *Scheduler) guarded(pods []*kube.Pod) []bool {
	spent := map[*kube.Budget]int{}
	out := make([]bool, len(pods))
	for i, p := range pods {
		for _, b := range s.Env.API.BudgetsOf(p) {
			if len(b.Selector) == 0 || slices.ContainsFunc(b.DisruptedPods, func(d kube.Disrupted) bool { return d.Pod == p.Name }) {
				continue
			}
			spent[b]++
			out[i] = out[i] || spent[b] > b.DisruptionsAllowed
		}
	}
	return out
}

// compare is negative where less is lost than with another candidate
// (pickOneNodeForPreemption).
func (one *candidate) compare(o *candidate) int {
	sum := func(c *candidate) (sum int64) {
		for _, v := range c.victims {
			sum += int64(v.Template.Priority) + math.MaxInt32 + 1
		}
		return sum
	}
	// Of the most important victims, the one that started first.
	start := func(c *candidate) kube.Instant { return c.victims[0].Started }
	return cmp.Or(
		cmp.Compare(one.violates, o.violates),
		cmp.Compare(one.victims[0].Template.Priority, o.victims[0].Template.Priority),
		cmp.Compare(sum(one), sum(o)),
		cmp.Compare(len(one.victims), len(o.victims)),
		-cmp.Compare(start(one), start(o)),
	)
}

// evict deletes the victims of a pod (Executor of
// pkg/scheduler/framework/preemption/executor.go).
func (s *Scheduler) evict(victims []*kube.Pod, by *kube.Pod, node string) {
	for _, v := range victims {
		if v.Gone() || v.Terminating() {
			continue
		}
		c := kube.Condition{
			Type: "DisruptionTarget", Status: "True", Reason: "PreemptionByScheduler", Transition: s.Env.API.Now().Second(),
			Message: component.SchedulerName + ": preempting to accommodate a higher priority pod",
		}
		if s.Env.Version.PodGeneration() {
			c.Observed = v.Generation
		}
		s.Env.API.UpdatePod(v, func(v *kube.Pod) { v.Conditions = v.Conditions.Set(c) })
		about := kube.AboutPod(v)
		s.Env.API.DeletePod(v, kube.OwnGrace)
		s.Env.API.RecordNew(s.reporter.Name, s.reporter.Instance, about, "Normal", "Preempted", "Preempting",
			"Preempted by pod "+by.UID+" on node "+node)
	}
}
