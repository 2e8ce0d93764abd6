package controllers

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// How old the pods of a cluster at rest are: those of one workload were created
// within some minutes, some hours or days before the tape begins.
const (
	seedYoungest = 2 * time.Hour
	seedOldest   = 20 * 24 * time.Hour
	seedWithin   = 10 * time.Minute
)

// Seed adds workloads that have been there since before the tape began, with their pods at rest: each is on the tape
// once, bound to the node that the scheduler finds for it and as running says of it, which is called before the pod
// is stored with the time since when it runs. DaemonSets come first, then the most important, then the others in
// their order. A pod that fits nowhere waits, and is the scheduler's.
//
// Call it at 0s, with the nodes seeded and before anything runs.
func (ws *Workloads) Seed(list []Workload, s *scheduler.Scheduler, running func(p *kube.Pod, since kube.Instant)) error {
	all := make([]*workload, 0, len(list))
	for _, w := range list {
		one, err := ws.admit(w)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b *workload) int {
		return cmp.Or(trueFirst(a.Kind == DaemonSet, b.Kind == DaemonSet), -cmp.Compare(a.template.Priority, b.template.Priority))
	})
	for _, w := range all {
		ws.byOwner[w.owner] = w.keeper // so that it counts its pods
		born := ws.env.API.Now().Add(-seedYoungest - time.Duration(w.stream.N(uint64(seedOldest-seedYoungest))))
		for p := range w.seeds(ws.env.API.Nodes()) {
			since := born.Add(time.Duration(w.stream.N(uint64(seedWithin))))
			if err := s.Seed(p, since, running); err != nil {
				return err
			}
		}
		ws.begin(w)
	}
	return nil
}

// seeds makes the pods of a workload at rest, one after the other: a name is
// free if no pod that was stored has it.
func (w *workload) seeds(nodes []*kube.Node) iter.Seq[*kube.Pod] {
	return func(yield func(*kube.Pod) bool) {
		switch k := w.keeper.(type) {
		case *daemonSet:
			for _, n := range nodes {
				if run, _ := k.fits(n); !run {
					continue
				}
				p := w.generated()
				p.Pinned = n.Name
				if !yield(p) {
					return
				}
			}
		case *statefulSet:
			k.claimed = w.Replicas
			for i := range w.Replicas {
				if !yield(k.numbered(i)) {
					return
				}
			}
		default:
			for range w.Replicas {
				if !yield(w.generated()) {
					return
				}
			}
		}
	}
}
