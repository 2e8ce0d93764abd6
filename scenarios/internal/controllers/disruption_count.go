package controllers

import (
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// budgetCount is the state of a budget's pods.
type budgetCount struct {
	budget    *kube.Budget
	pods      int                    // that it selects
	healthy   int                    // of those: Ready and not being deleted
	unmanaged int                    // of those: without a controller
	owners    map[string]*ownedCount // by the controllers' UIDs
	queued    bool
	recheck   kube.Instant // when a sync is due without a change; 0 for none
}

// ownedCount counts a budget's pods of one controller.
type ownedCount struct {
	owner *kube.Owner
	pods  int
}

// recount counts the pods of a budget that are there.
func (d *Disruption) recount(b *kube.Budget) *budgetCount {
	n := &budgetCount{budget: b, owners: map[string]*ownedCount{}}
	for _, p := range d.env.API.Pods() {
		if b.Covers(p) {
			n.count(p, +1)
		}
	}
	return n
}

// countAlike is recount before the tape begins, when the pods of one controller mostly have the same labels: then one of
// them is asked for all.
func (d *Disruption) countAlike(b *kube.Budget) *budgetCount {
	n := &budgetCount{budget: b, owners: map[string]*ownedCount{}}
	for uid := range d.env.API.Owners() { // sums: the order is of no consequence
		pods, covers := d.env.API.PodsOf(uid), false
		for i, p := range pods {
			if uid == "" || i == 0 || !sameLabels(pods[i-1].Labels, p.Labels) && !sameButPlace(pods[i-1].Labels, p.Labels) {
				covers = b.Covers(p)
			}
			if covers {
				n.count(p, +1)
			}
		}
	}
	return n
}

func healthy(p *kube.Pod) bool { return !p.Terminating() && p.Ready() }

// podChanged counts a pod again, and reports whether a sync would find something
// to do.
func (n *budgetCount) podChanged(c kube.Change, old, p *kube.Pod) bool {
	switch c {
	case kube.Added:
		n.count(p, +1)
	case kube.Deleted:
		n.count(old, -1)
	default:
		was, is := healthy(old), healthy(p)
		switch {
		case was && !is:
			n.healthy--
		case is && !was:
			n.healthy++
		}
		return was != is || old.Terminating() != p.Terminating() || n.unmanaged > 0
	}
	return true
}

func (n *budgetCount) count(p *kube.Pod, by int) {
	n.pods += by
	if healthy(p) {
		n.healthy += by
	}
	if p.Owner == nil {
		n.unmanaged += by
		return
	}
	o := n.owners[p.Owner.UID]
	if o == nil {
		o = &ownedCount{owner: p.Owner}
		n.owners[p.Owner.UID] = o
	}
	if o.pods += by; o.pods == 0 {
		delete(n.owners, p.Owner.UID)
	}
}

// scale is getExpectedScale: what the pods' controllers want together. It fails where one of them can't be scaled, or
// is of an unknown kind.
func (d *Disruption) scale(n *budgetCount) (sum int, err error) {
	var lost *kube.Owner
	for uid, o := range n.owners { // a sum and a least: the order is of no consequence
		replicas, known := d.env.API.Scale(uid)
		if sum += replicas; !known && (lost == nil || uid < lost.UID) {
			lost = o.owner
		}
	}
	if lost == nil {
		return sum, nil
	}
	if lost.Kind == "ReplicaSet" || lost.Kind == "StatefulSet" {
		return 0, fmt.Errorf("found no controllers for pod %q", d.podOf(n, lost))
	}
	group, _, _ := strings.Cut(lost.APIVersion, "/")
	return 0, fmt.Errorf("%ss.%s does not implement the scale subresource", strings.ToLower(lost.Kind), group)
}

// podOf names the first of a controller's pods that a budget selects.
func (d *Disruption) podOf(n *budgetCount, owner *kube.Owner) (name string) {
	for _, p := range d.env.API.PodsOf(owner.UID) {
		if n.budget.Covers(p) && (name == "" || p.Name < name) {
			name = p.Name
		}
	}
	return name
}
