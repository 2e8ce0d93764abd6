package scheduler

import (
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// schedule tries to find a pod a node (schedulingCycle and bindingCycle of
// pkg/scheduler/schedule_one.go). It reports whether that took a search.
func (s *Scheduler) schedule(w *waitingPod) bool {
	p := w.pod
	if p.Terminating() {
		s.reporter.Failed(p, "skip schedule deleting pod: "+p.Namespace+"/"+p.Name)
		s.settle(w)
		return false
	}
	if s.failsLike(p, w.class) {
		s.fail(w)
		return false
	}
	nominated, n := s.withdraw(w), (*schedNode)(nil)
	s.without(w.class, func() {
		if n = s.findNominated(p, w.class, nominated); n == nil {
			n = s.find(p, w.class)
		}
		if n == nil {
			s.failRanked(w, nominated)
		}
	})
	if n == nil {
		return true
	}
	s.take(n, p)
	s.assumed[p] = n
	s.recount(p)
	s.Env.After(s.Env.Draw(&s.stream, s.Env.Timings.SchedulerBind), func() { s.bind(p, n) })
	return true
}

// bind writes what the scheduler has decided. A pod that is gone or going by
// then stays where it is; the node may be gone: the API server doesn't ask.
func (s *Scheduler) bind(p *kube.Pod, n *schedNode) {
	if p.Gone() || p.NodeName != "" || s.assumed[p] != n {
		return
	}
	if p.Terminating() {
		// The binding is refused (assignPod of pkg/registry/core/pod/storage).
		delete(s.assumed, p)
		if !n.gone {
			s.release(n, p, false)
		}
		s.recount(p)
		return
	}
	s.reporter.Bind(p, n.node.Name, s.topology(p, n))
}

// topology is TopologyLabels, but pods that share their labels go on doing so.
func (s *Scheduler) topology(p *kube.Pod, n *schedNode) kube.Pairs {
	if s.Env.Version.Minor < 35 {
		return p.Labels
	}
	c := s.classOf(p)
	zone, region := n.node.Labels.Get(component.LabelZone), n.node.Labels.Get(component.LabelRegion)
	for i := range c.placed {
		if l := &c.placed[i]; l.zone == zone && l.region == region && len(p.Labels) > 0 && l.from == &p.Labels[0] {
			return l.labels
		}
	}
	labels := s.reporter.TopologyLabels(p.Labels, n.node)
	if len(p.Labels) > 0 && len(c.placed) < placedAtMost {
		c.placed = append(c.placed, placedLabels{&p.Labels[0], zone, region, labels})
	}
	return labels
}

// placedLabels are the labels of a class's pods in a zone.
type placedLabels struct {
	from         *kube.Pair
	zone, region string
	labels       kube.Pairs
}

// placedAtMost is of how many zones labels are kept: a StatefulSet's pods have
// each their own, which isn't worth it.
const placedAtMost = 8

// fail reports that a pod fits nowhere, and parks it (handleSchedulingFailure
// of schedule_one.go).
func (s *Scheduler) fail(w *waitingPod) {
	s.failWith(w, s.explain(w.pod, w.class), "")
}

// failWith reports a failure in these words, and the node on which a pod that
// preempts others is to have their place.
func (s *Scheduler) failWith(w *waitingPod, message, nominated string) {
	s.park(w)
	s.reporter.Unschedulable(w.pod, message, nominated)
}
