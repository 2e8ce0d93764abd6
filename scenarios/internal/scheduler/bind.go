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
		s.report(w, "skip schedule deleting pod: "+p.Namespace+"/"+p.Name)
		s.settle(w)
		return false
	}
	if s.failsLike(p, w.class) {
		s.fail(w)
		return false
	}
	nominated := s.withdraw(w)
	n := s.findNominated(p, w.class, nominated)
	if n == nil {
		n = s.find(p, w.class)
	}
	if n == nil {
		s.failRanked(w, nominated)
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
	about := kube.AboutPod(p)
	s.Env.API.UpdatePod(p, func(p *kube.Pod) {
		p.NodeName = n.node.Name
		p.Labels = s.topology(p, n)
		if s.Env.Version.Minor >= 35 { // the feature ClearingNominatedNodeNameAfterBinding
			p.Nominated = ""
		}
		p.Conditions = p.Conditions.Set(kube.Condition{Type: "PodScheduled", Status: "True", Transition: s.Env.API.Now().Second()})
	})
	s.Env.API.RecordNew(component.SchedulerName, s.instance, about, "Normal", "Scheduled", "Binding",
		"Successfully assigned "+p.Namespace+"/"+p.Name+" to "+n.node.Name)
}

// topology returns a pod's labels with those of its node's zone and region, as
// the admission PodTopologyLabels adds them to a binding since 1.35. Pods that
// share their labels go on doing so.
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
	labels := p.Labels
	for _, k := range [...]string{component.LabelRegion, component.LabelZone} {
		if v, ok := n.node.Labels.Lookup(k); ok {
			labels = labels.With(k, v)
		}
	}
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
	s.report(w, message)
	c := kube.Condition{Type: "PodScheduled", Status: "False", Reason: "Unschedulable", Message: message, Transition: s.Env.API.Now().Second()}
	if s.Env.Version.PodGeneration() {
		c.Observed = w.pod.Generation
	}
	s.Env.API.UpdatePod(w.pod, func(p *kube.Pod) { p.Conditions, p.Nominated = p.Conditions.Set(c), nominated })
}

// report tells of a failure. One that is told again of the same version of a
// pod is part of a series, whatever its message.
func (s *Scheduler) report(w *waitingPod, message string) {
	s.Env.API.RecordNew(component.SchedulerName, s.instance, kube.AboutPod(w.pod), "Warning", "FailedScheduling", "Scheduling", cutNote(message))
}
