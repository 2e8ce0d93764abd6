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
// their order. A pod that fits nowhere waits, and is the scheduler's. Pods that are Placed are where they are said to be; the
// scheduler places what is missing of the replicas.
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
		zones := map[string]string{}
		for i := range w.Placed {
			zones[w.Placed[i].Name] = w.Placed[i].Zone
		}
		for p := range w.seeds(ws.env.API.Nodes()) {
			if zone := zones[p.Name]; p.NodeName == "" && p.Claim != "" && zone != "" {
				s.Volume(scheduler.ClaimName{Namespace: p.Namespace, Name: p.Claim}, zone)
			}
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
		there := map[string]bool{} // nodes of a DaemonSet's pods, names of a StatefulSet's
		for i := range w.Placed {
			p := w.placed(&w.Placed[i])
			there[cmp.Or(p.Pinned, p.Name)] = true
			if !yield(p) {
				return
			}
		}
		switch k := w.keeper.(type) {
		case *daemonSet:
			for _, n := range nodes {
				if run, _ := k.fits(n); !run || there[n.Name] {
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
				if p := k.numbered(i); !there[p.Name] && !yield(p) {
					return
				}
			}
		default:
			for range w.Replicas - len(w.Placed) {
				if !yield(w.generated()) {
					return
				}
			}
		}
	}
}

// placed makes a pod that is there.
func (w *workload) placed(at *Placed) *kube.Pod {
	var p *kube.Pod
	switch k := w.keeper.(type) {
	case *statefulSet:
		if i := k.ordinal(at.Name); i >= 0 {
			p = k.numbered(i)
		}
	case *daemonSet:
		p = w.pod(at.Name)
		p.Pinned = at.Node
	}
	if p == nil {
		p = w.pod(at.Name)
	}
	p.NodeName = at.Node
	return p
}
