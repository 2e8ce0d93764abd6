package invariant

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/internal/labelindex"
	"github.com/nodesim/nodesim/noderoll"
	"k8s.io/apimachinery/pkg/labels"
)

var budgetCounts = &Invariant{
	Name:     "budget-counts",
	Sentence: "On a tape of the whole cluster, currentHealthy is the number of pods of a budget that are Ready and neither being deleted nor in disruptedPods, within 1 s, unless the sync failed.",
	Source:   "kube-controller-manager, pkg/controller/disruption/disruption.go, countHealthyPods; failSafe leaves the counts as they were",
}

// trackedPods are the pods of one namespace, for the budgets in it.
type trackedPods struct {
	all map[*trackedObject]struct{}
	// labelled are the same, by their labels, once there are manyBudgets: for a
	// few it is cheaper to look at all pods than to keep an index of them.
	labelled labelindex.ByLabel[*trackedObject]
}

// manyBudgets is from how many budgets of a namespace on pods are found by
// their labels.
const manyBudgets = 64

// covering describes how a pod counts for the budgets of its namespace.
type covering struct {
	labels  map[string]string
	by      []*trackedObject // budgets
	healthy bool             // Ready, and not being deleted
}

// afford stops the checks of counts in a namespace that needs too many comparisons.
func (c *Checker) afford(namespace string) {
	if c.comparisons[namespace] < 0 {
		c.uncounted[namespace] = true
		delete(c.budgets, namespace)
	}
}

// cover brings the counts of budgets up to date with a pod.
func (c *Checker) cover(h *trackedObject, now map[string]string) {
	if c.opts.Partial || c.uncounted[h.key.namespace] {
		return
	}
	k := &h.pod.covering
	healthy := h.pod.ready && h.deletion.IsZero()
	known := c.pods[h.key.namespace]
	if known == nil {
		known = &trackedPods{all: map[*trackedObject]struct{}{}}
		c.pods[h.key.namespace] = known
	}
	if _, is := known.all[h]; !is {
		known.all[h] = struct{}{}
	} else if healthy == k.healthy && maps.Equal(k.labels, now) {
		return
	}
	uncover(h)
	if known.labelled != nil {
		known.labelled.Remove(h, k.labels)
		known.labelled.Add(h, now)
	}
	k.labels, k.healthy = now, healthy
	c.comparisons[h.key.namespace] += labelindex.ComparisonsPerChange
	for b := range c.mayCover(h.key.namespace, k.labels) {
		c.coverBy(h, b)
	}
	slices.SortFunc(k.by, func(a, b *trackedObject) int { return strings.Compare(a.key.name, b.key.name) })
	for _, b := range k.by {
		c.compareCount(b)
	}
	c.afford(h.key.namespace)
}

// mayCover yields the budgets that pods with these labels may have.
func (c *Checker) mayCover(namespace string, set map[string]string) iter.Seq[*trackedObject] {
	budgets := c.budgets[namespace]
	if budgets == nil {
		return func(func(*trackedObject) bool) {}
	}
	return budgets.MayMatch(set)
}

func (c *Checker) coverBy(h, b *trackedObject) {
	k := &h.pod.covering
	c.comparisons[h.key.namespace]--
	if !b.budget.matcher.Matches(labels.Set(k.labels)) {
		return
	}
	k.by = append(k.by, b)
	if k.healthy {
		b.budget.count(h.key.name, 1)
	}
}

// count counts a healthy pod in, or out where by is negative.
func (b *trackedBudget) count(name string, by int) {
	b.ready += by
	if _, is := slices.BinarySearch(b.disrupted, name); is {
		b.away += by
	}
}

// uncover takes a pod out of the counts.
func uncover(h *trackedObject) {
	k := &h.pod.covering
	for _, b := range k.by {
		if k.healthy {
			b.budget.count(h.key.name, -1)
		}
	}
	k.by = k.by[:0]
}

// coverPodGone forgets a pod.
func (c *Checker) coverPodGone(h *trackedObject) {
	known := c.pods[h.key.namespace]
	if known == nil {
		return
	}
	if _, is := known.all[h]; !is {
		return
	}
	by := slices.Clone(h.pod.covering.by)
	uncover(h)
	for _, b := range by {
		c.compareCount(b)
	}
	if known.labelled != nil {
		known.labelled.Remove(h, h.pod.covering.labels)
	}
	if delete(known.all, h); len(known.all) == 0 {
		delete(c.pods, h.key.namespace)
	}
}

// coverAll counts the pods of a budget whose selector is new, in no order: what
// they sum up to is compared afterwards.
func (c *Checker) coverAll(b *trackedObject) {
	if b.budget.matcher == nil || c.uncounted[b.key.namespace] {
		return
	}
	c.comparisons[b.key.namespace] += labelindex.ComparisonsPerChange
	budgets := c.budgets[b.key.namespace]
	if budgets == nil {
		budgets = labelindex.NewSelecting[*trackedObject]()
		c.budgets[b.key.namespace] = budgets
	}
	budgets.Add(b, b.budget.matcher)
	for h := range c.mayBeCovered(b, budgets.Size()) {
		c.coverBy(h, b)
	}
	c.afford(b.key.namespace)
}

// mayBeCovered yields the pods that a budget, one of so many, may select.
func (c *Checker) mayBeCovered(b *trackedObject, budgets int) iter.Seq[*trackedObject] {
	known := c.pods[b.key.namespace]
	if known == nil {
		return func(func(*trackedObject) bool) {}
	}
	if known.labelled == nil && budgets >= manyBudgets {
		known.labelled = labelindex.ByLabel[*trackedObject]{}
		for h := range known.all {
			known.labelled.Add(h, h.pod.covering.labels)
		}
	}
	return known.labelled.MayMatch(b.budget.matcher, maps.Keys(known.all))
}

// coverNone takes a budget out of what its pods count for.
func (c *Checker) coverNone(b *trackedObject) {
	budgets := c.budgets[b.key.namespace]
	if b.budget.matcher == nil || budgets == nil {
		return
	}
	for h := range c.mayBeCovered(b, budgets.Size()) {
		k := &h.pod.covering
		c.comparisons[b.key.namespace] -= 1 + len(k.by)
		k.by = slices.DeleteFunc(k.by, func(x *trackedObject) bool { return x == b })
	}
	b.budget.ready, b.budget.away = 0, 0
	if budgets.Remove(b); budgets.Size() == 0 {
		delete(c.budgets, b.key.namespace)
	}
	c.afford(b.key.namespace)
}

// compareCount compares the status of a budget with its pods, where that counts them.
func (c *Checker) compareCount(h *trackedObject) {
	b := h.budget
	if c.opts.Partial || c.uncounted[h.key.namespace] {
		return
	}
	what, n := "", b.ready-b.away
	if b.counted && n != int(b.healthy) {
		what = "currentHealthy " + strconv.Itoa(int(b.healthy))
	}
	if c.begins(&b.miscount, what) {
		c.checkOverdue(&b.miscount, h, reaction, budgetCounts, strconv.Itoa(n)+", as many as are Ready and neither being deleted nor disrupted", func() bool {
			return !c.uncounted[h.key.namespace] && c.lifecycle && c.whole(noderoll.Pods) && c.whole(noderoll.Budgets)
		})
	}
}

// countDisrupted counts the healthy pods of a budget that are in its disruptedPods,
// after those have changed.
func (c *Checker) countDisrupted(h *trackedObject) {
	b, known := h.budget, c.pods[h.key.namespace]
	b.away = 0
	if known == nil || b.matcher == nil || c.uncounted[h.key.namespace] {
		return
	}
	for _, name := range b.disrupted {
		p := c.objects[objectKey{noderoll.Pods, h.key.namespace, name}]
		if _, is := known.all[p]; is && p.pod.covering.healthy && b.matcher.Matches(labels.Set(p.pod.covering.labels)) {
			b.away++
		}
	}
}
