package scheduler

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Without says what a pod's demand keeps it from, node by node: as it follows pods that are taken away, and then put back,
// and as one that is made where they aren't counted.
func (s *Scheduler) Without(p *kube.Pod, gone []*kube.Pod) (before, followed, anew, back []string) {
	s.startCounting()
	d := s.demandOf(p)
	before = s.refusals(d)
	for _, v := range gone {
		d.follow(v, -1)
	}
	followed = s.refusals(d)
	for _, v := range gone {
		d.follow(v, 1)
	}
	back = s.refusals(d)
	for _, v := range gone {
		if was, counted := s.podCounts.pods[v]; counted {
			s.count(v, was, -1)
			delete(s.podCounts.pods, v)
		}
	}
	anew = s.refusals(s.demandOf(p))
	s.podCounts = nil
	s.startCounting()
	return before, followed, anew, back
}

func (s *Scheduler) refusals(d *demand) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		reason, resolvable := d.after(s.nodes[name])
		all = append(all, fmt.Sprint(name, " ", reason, " ", resolvable))
	}
	return all
}

// Counted is how many selections of pods are counted, and how many terms that pods have.
func (s *Scheduler) Counted() (selected, having int) {
	return len(s.podCounts.selected), max(len(s.podCounts.having), len(s.podCounts.inOrder))
}
