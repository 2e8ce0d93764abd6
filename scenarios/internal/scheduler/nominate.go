package scheduler

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// nominate keeps room on a node for a pod until its victims are gone.
func (s *Scheduler) nominate(w *waitingPod, n *schedNode) {
	w.nominated = n
	n.nominees = append(n.nominees, w)
	s.nominees = append(s.nominees, w)
	n.reserve(w, 1)
	s.version++
}

// withdraw ends a nomination, and returns the node.
func (s *Scheduler) withdraw(w *waitingPod) *schedNode {
	n := w.nominated
	if n == nil {
		return nil
	}
	w.nominated = nil
	same := func(o *waitingPod) bool { return o == w }
	n.nominees, s.nominees = slices.DeleteFunc(n.nominees, same), slices.DeleteFunc(s.nominees, same)
	if n.gone {
		return nil
	}
	n.reserve(w, -1)
	s.version++
	return n
}

// reserve counts a pod as if it ran on the node, or no longer.
func (n *schedNode) reserve(w *waitingPod, by int) {
	room := w.class.need.Times(by)
	n.used, n.kept = n.used.Plus(room), n.kept.Plus(room)
	n.uses(w.class.template, int64(by))
	n.mounts(w.pod, by)
	n.resized()
}

// without does something as if no pod of less importance than a class were nominated: their room isn't kept from it
// (addGENominatedPods of pkg/scheduler/framework/runtime/framework.go).
func (s *Scheduler) without(c *podClass, do func()) {
	var less []*waitingPod
	for _, w := range s.nominees {
		if w.class.template.Priority < c.template.Priority && !w.nominated.gone {
			less = append(less, w)
			w.nominated.reserve(w, -1)
		}
	}
	do()
	for _, w := range less {
		if w.nominated != nil {
			w.nominated.reserve(w, 1)
		}
	}
}

// outdo ends the nominations to a node of pods that are less important than the one whose victims leave it, and has them
// tried again (prepareCandidate of pkg/scheduler/framework/preemption/executor.go).
func (s *Scheduler) outdo(n *schedNode, by *podClass) {
	for _, w := range slices.Clone(n.nominees) {
		if w.class.template.Priority < by.template.Priority {
			n.reserve(w, 1) // as it was before it was set aside
			s.withdraw(w)
			s.Env.API.UpdatePod(w.pod, func(p *kube.Pod) { p.Nominated = "" })
			s.wake(w.class)
		}
	}
}
