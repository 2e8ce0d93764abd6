package controllers

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// RankForDeletion returns the active ones of some pods, the first to go first,
// as ActivePodsWithRanks of pkg/controller/controller_utils.go orders them. Related
// pods, which those are among, count where they share a node.
func RankForDeletion(pods, related []*kube.Pod, now kube.Instant) []*kube.Pod {
	together := map[string]int{} // by node: active related pods
	for _, p := range related {
		if p.Active() {
			together[p.NodeName]++
		}
	}
	ranked := make([]ranking, 0, len(pods))
	for _, p := range pods {
		if p.Active() {
			ranked = append(ranked, rankOf(p))
		}
	}
	for i := range ranked {
		ranked[i].together = together[ranked[i].pod.NodeName]
	}
	slices.SortFunc(ranked, func(a, b ranking) int { return a.compare(&b, now) })
	out := make([]*kube.Pod, len(ranked))
	for i := range ranked {
		out[i] = ranked[i].pod
	}
	return out
}

// ranking holds the criteria by which two pods are compared.
type ranking struct {
	pod          *kube.Pod
	phase        int
	ready        bool
	cost         int64
	together     int
	since        kube.Instant // ready since
	restarts     int
	bound        bool
	creationTime kube.Instant
}

func rankOf(p *kube.Pod) ranking {
	r := ranking{pod: p, bound: p.NodeName != "", creationTime: p.Created.Second()}
	r.phase = slices.Index([]string{"Pending", "Unknown", "Running"}, p.Phase)
	if c := p.Conditions.Get("Ready"); c != nil && c.Status == "True" {
		r.ready, r.since = true, c.Transition.Second()
	}
	// A value that is no number counts as 0 (GetDeletionCostFromPodAnnotations
	// of pkg/apis/core/v1/helper).
	r.cost, _ = strconv.ParseInt(p.Annotations.Get("controller.kubernetes.io/pod-deletion-cost"), 10, 32)
	for i := range p.Containers {
		r.restarts = max(r.restarts, int(p.Containers[i].Restarts))
	}
	return r
}

// compare is negative where a goes before b.
func (a *ranking) compare(b *ranking, now kube.Instant) int {
	return cmp.Or(
		trueFirst(!a.bound, !b.bound),
		cmp.Compare(a.phase, b.phase),
		trueFirst(!a.ready, !b.ready),
		cmp.Compare(a.cost, b.cost),
		-cmp.Compare(a.together, b.together),
		a.younger(b, a.since, b.since, now),
		-cmp.Compare(a.restarts, b.restarts),
		a.younger(b, a.creationTime, b.creationTime, now),
		cmp.Compare(a.pod.UID, b.pod.UID),
	)
}

func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// younger puts what has lasted for a shorter time first. What differs by less
// than a power of two is alike, and its UIDs decide (LogarithmicScaleDown).
func (a *ranking) younger(b *ranking, x, y, now kube.Instant) int {
	if x == y {
		return 0
	}
	return cmp.Or(cmp.Compare(magnitude(now.Sub(x)), magnitude(now.Sub(y))), cmp.Compare(a.pod.UID, b.pod.UID))
}

// magnitude is the binary logarithm of a duration's nanoseconds, as
// logarithmicRankDiff has it; -1 for none.
func magnitude(d time.Duration) int { return bits.Len64(uint64(max(d, 0))) - 1 }
