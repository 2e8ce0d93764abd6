package controllers

import (
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Disruption is the disruption controller of kube-controller-manager (pkg/controller/disruption/disruption.go): it
// keeps the status of budgets, and takes the condition DisruptionTarget back from pods that were never deleted.
//
// The real controller counts a budget's pods at every sync. This one keeps the
// counts as pods change, so that a sync costs the same for ten pods and ten
// thousand. Of a pod that several budgets select, the real one syncs one of them
// at random; this one syncs all, so that their status is always right.
type Disruption struct {
	env    *component.Env
	chance model.Stream
	counts map[*kube.Budget]*budgetCount
	byPods map[string]selected // by the UID of the pods' controller
	seeded *budgetCount        // of the budget that is being seeded
}

// selected are the budgets that select pods with these labels.
type selected struct {
	labels  kube.Pairs
	budgets []*budgetCount
}

var disruptionController = kube.Source{Component: "controllermanager"}

// NewDisruption starts the disruption controller, before there are budgets.
// Pods that are there when a budget comes are taken into account.
func NewDisruption(env *component.Env) *Disruption {
	d := &Disruption{env: env, chance: env.Stream("disruption"), counts: map[*kube.Budget]*budgetCount{}, byPods: map[string]selected{}}
	env.API.WatchBudgets(d.budgetChanged)
	env.API.WatchPods(d.podChanged)
	return d
}

// Seed adds a budget from before the tape began, after its pods: the controller has long computed its status of them,
// and it is written once. Where Created is unset it is now.
func (d *Disruption) Seed(b *kube.Budget) error {
	n := d.countAlike(b)
	if b.Created == 0 {
		b.Created = d.env.API.Now()
	}
	b.Generation, b.ObservedGeneration = 1, 1
	v, err := d.verdict(n, d.env.API.Now())
	v.write(b, err, b.Created)
	d.seeded = n
	defer func() { d.seeded = nil }()
	if err := d.env.API.SeedBudget(b); err != nil {
		return fmt.Errorf("seed budget %s/%s: %w", b.Namespace, b.Name, err)
	}
	return nil
}

func (d *Disruption) budgetChanged(c kube.Change, old, b *kube.Budget) {
	n := d.counts[b]
	switch {
	case c == kube.Deleted:
		delete(d.counts, b)
		clear(d.byPods)
		return
	case n == nil || !old.SameSelector(b):
		next := d.seeded
		if next == nil || next.budget != b {
			next = d.recount(b)
		}
		if n != nil {
			next.queued, next.recheck = n.queued, n.recheck
			*n = *next
		} else {
			n = next
			d.counts[b] = n
		}
		clear(d.byPods)
		if c == kube.Added && b.ObservedGeneration == b.Generation {
			return // the controller knows it already
		}
	}
	// The API server's own writes, when it grants an eviction, bring the
	// controller to its feet as well.
	d.queue(n)
}

func (d *Disruption) podChanged(c kube.Change, old, p *kube.Pod) {
	if c == kube.Modified && !sameLabels(old.Labels, p.Labels) && !sameButPlace(old.Labels, p.Labels) {
		d.relabelled(old, p)
	} else {
		some := d.of(p)
		if len(some) > 1 {
			d.env.After(0, func() { d.several(p, some) })
		}
		for _, n := range some {
			if n.podChanged(c, old, p) {
				d.queue(n)
			}
		}
	}
	if c == kube.Deleted && p.Owner != nil && len(d.env.API.PodsOf(p.Owner.UID)) == 0 {
		delete(d.byPods, p.Owner.UID)
	}
	if c != kube.Deleted && staleTarget(p) && (old == nil || !staleTarget(old)) {
		d.watchTarget(p)
	}
}

// relabelled counts a pod whose labels have changed, which may have taken it
// from one budget to another.
func (d *Disruption) relabelled(old, p *kube.Pod) {
	for _, b := range d.env.API.Budgets() {
		n := d.counts[b]
		was, is := b.Covers(old), b.Covers(p)
		switch {
		case n == nil || !was && !is:
		case was && is:
			if n.podChanged(kube.Modified, old, p) {
				d.queue(n)
			}
		case was:
			n.count(old, -1)
			d.queue(n)
		default:
			n.count(p, +1)
			d.queue(n)
		}
	}
}

// sameLabels is quick where two states share their labels, which they nearly
// always do.
func sameLabels(a, b kube.Pairs) bool {
	return kube.Identical(a, b) || slices.Equal(a, b)
}

// sameButPlace compares labels without those that a scheduler copies from the
// node, by which no budget selects.
func sameButPlace(a, b kube.Pairs) bool {
	place := func(p kube.Pair) bool { return p.Key == component.LabelZone || p.Key == component.LabelRegion }
	for {
		for len(a) > 0 && place(a[0]) {
			a = a[1:]
		}
		for len(b) > 0 && place(b[0]) {
			b = b[1:]
		}
		if len(a) == 0 || len(b) == 0 {
			return len(a) == len(b)
		}
		if a[0] != b[0] {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

// of returns the budgets that select a pod. The pods of one controller mostly have the same labels, so that they needn't
// be compared with all budgets.
func (d *Disruption) of(p *kube.Pod) []*budgetCount {
	owner := ""
	if p.Owner != nil {
		owner = p.Owner.UID
	}
	if last, known := d.byPods[owner]; known && (sameLabels(last.labels, p.Labels) || sameButPlace(last.labels, p.Labels)) {
		return last.budgets
	}
	var some []*budgetCount
	for _, b := range d.env.API.Budgets() {
		if n := d.counts[b]; n != nil && b.Covers(p) {
			some = append(some, n)
		}
	}
	if owner != "" {
		d.byPods[owner] = selected{p.Labels, some}
	}
	return some
}

// several reports a pod that more than one budget selects (getPdbForPod).
func (d *Disruption) several(p *kube.Pod, some []*budgetCount) {
	if p.Gone() {
		return
	}
	chosen := some[d.chance.N(uint64(len(some)))].budget
	d.env.API.Record(disruptionController, kube.AboutPod(p), "Warning", "MultiplePodDisruptionBudgets",
		fmt.Sprintf("Pod %q/%q matches multiple PodDisruptionBudgets.  Chose %q arbitrarily.", p.Namespace, p.Name, chosen.Name))
}

// slowestSync bounds how long a change of a pod waits for its budget's status, however far a scenario stretches the
// reactions of controllers: the workers of the disruption controller aren't throttled and find everything in their
// caches (pkg/controller/disruption/disruption.go, worker).
const slowestSync = time.Second

// queue has a budget synced soon; changes until then are one sync.
func (d *Disruption) queue(n *budgetCount) {
	if n == nil || n.queued {
		return
	}
	n.queued = true
	d.env.After(min(d.env.Draw(&d.chance, d.env.Timings.ControllerReact), slowestSync), func() {
		n.queued = false
		if d.counts[n.budget] == n {
			d.sync(n)
		}
	})
}
