package noderoll

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
)

var budgetCounts = &Invariant{
	Name:     "budget-counts",
	Sentence: "On a tape of the whole cluster, currentHealthy is how many pods of a budget are Ready and neither being deleted nor in disruptedPods, within 1 s.",
	Source:   "kube-controller-manager, pkg/controller/disruption/disruption.go, countHealthyPods",
}

// heldPods are the pods of one namespace, for the budgets in it.
type heldPods map[*held]struct{}

// covering is how a pod counts for the budgets of its namespace.
type covering struct {
	labels  map[string]string
	by      []*held // budgets
	healthy bool    // Ready, and not being deleted
}

// cover brings the counts of budgets up to date with a pod.
func (c *Checker) cover(h *held, now map[string]string) {
	if c.opts.Partial {
		return
	}
	k := &h.pod.covering
	healthy := h.pod.ready && h.deletion.IsZero()
	known := c.pods[h.key.namespace]
	if _, is := known[h]; !is {
		if known == nil {
			known = heldPods{}
			c.pods[h.key.namespace] = known
		}
		known[h] = struct{}{}
	} else if healthy == k.healthy {
		return
	}
	uncover(h)
	k.labels, k.healthy = now, healthy
	for _, b := range c.budgets[h.key.namespace] {
		coverBy(h, b)
	}
	for _, b := range k.by {
		c.compareCount(b)
	}
}

func coverBy(h, b *held) {
	k := &h.pod.covering
	if b.budget.matcher == nil || !b.budget.matcher.Matches(labels.Set(k.labels)) {
		return
	}
	k.by = append(k.by, b)
	if k.healthy {
		b.budget.ready++
	}
}

// uncover takes a pod out of the counts.
func uncover(h *held) {
	k := &h.pod.covering
	for _, b := range k.by {
		if k.healthy {
			b.budget.ready--
		}
	}
	k.by = k.by[:0]
}

// coverPodGone forgets a pod.
func (c *Checker) coverPodGone(h *held) {
	known := c.pods[h.key.namespace]
	if _, is := known[h]; !is {
		return
	}
	by := slices.Clone(h.pod.covering.by)
	uncover(h)
	for _, b := range by {
		c.compareCount(b)
	}
	if delete(known, h); len(known) == 0 {
		delete(c.pods, h.key.namespace)
	}
}

// coverAll counts the pods of a budget whose selector is new, in no order: what
// they sum up to is compared afterwards.
func (c *Checker) coverAll(b *held) {
	c.coverNone(b)
	for h := range c.pods[b.key.namespace] {
		coverBy(h, b)
	}
}

// coverNone takes a budget out of what its pods count for.
func (c *Checker) coverNone(b *held) {
	for h := range c.pods[b.key.namespace] {
		k := &h.pod.covering
		k.by = slices.DeleteFunc(k.by, func(x *held) bool { return x == b })
	}
	b.budget.ready = 0
}

// compareCount compares the status of a budget with its pods.
func (c *Checker) compareCount(h *held) {
	b := h.budget
	if c.opts.Partial || !b.counted {
		return
	}
	what, n := "", b.ready-c.disruptedReady(h)
	if n != int(b.healthy) {
		what = "currentHealthy " + strconv.Itoa(int(b.healthy))
	}
	if c.begins(&b.miscount, what) {
		c.stands(&b.miscount, h, reaction, budgetCounts, strconv.Itoa(n)+", as many as are Ready and neither being deleted nor disrupted", func() bool {
			return c.lifecycle && c.whole(Pods) && c.whole(Budgets)
		})
	}
}

// disruptedReady counts the healthy pods that are in disruptedPods.
func (c *Checker) disruptedReady(h *held) (n int) {
	for _, name := range h.budget.disrupted {
		p := c.objects[objectKey{Pods, h.key.namespace, name}]
		if p != nil && p.pod != nil && p.pod.covering.healthy && slices.Contains(p.pod.covering.by, h) {
			n++
		}
	}
	return n
}
