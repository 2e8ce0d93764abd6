package workloads

import (
	"bytes"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// limits are how many nodes may have two pods during an update, and how many none (updatedDesiredNodeCounts of
// pkg/controller/daemon/update.go).
func (d *daemonSync) limits(nodes int) (surge, unavailable int) {
	u := d.set.Spec.UpdateStrategy.RollingUpdate
	if u == nil {
		return 0, 1
	}
	if u.MaxSurge != nil {
		surge, _ = intstr.GetScaledValueFromIntOrPercent(u.MaxSurge, nodes, true)
	}
	if u.MaxUnavailable != nil {
		unavailable, _ = intstr.GetScaledValueFromIntOrPercent(u.MaxUnavailable, nodes, true)
	}
	if nodes > 0 && surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

// roll replaces pods with an earlier template (rollingUpdate): where none may be there beside it, an old one goes first,
// those that aren't available before others; else a new one comes first.
func (d *daemonSync) roll() (create []string, remove []*kube.Pod) {
	var nodes []*kube.Node
	wanted := 0
	for _, n := range d.env.API.Nodes() {
		run, _ := d.fits(n)
		if run {
			wanted++
		}
		if run || len(d.on[n.Name]) > 0 {
			nodes = append(nodes, n)
		}
	}
	surge, unavailable := d.limits(wanted)
	if surge == 0 {
		return nil, d.replace(nodes, unavailable)
	}
	return d.overlap(nodes, wanted, surge)
}

// pair finds the pods of a node with the newest and with an earlier template; ok is false where there are two of a kind
// (findUpdatedPodsOnNode).
func (d *daemonSync) pair(node string) (fresh, old *kube.Pod, ok bool) {
	for _, p := range d.on[node] {
		if p.Terminating() {
			continue
		}
		which := &old
		if d.updated(p) {
			which = &fresh
		}
		if *which != nil {
			return nil, nil, false
		}
		*which = p
	}
	return fresh, old, true
}

func (d *daemonSync) replace(nodes []*kube.Node, most int) []*kube.Pod {
	var ill, well []*kube.Pod
	out := 0
	for _, n := range nodes {
		fresh, old, ok := d.pair(n.Name)
		switch {
		case !ok, fresh == nil && old == nil, fresh != nil && old != nil:
			out++
		case fresh != nil:
			if !d.isAvailable(fresh) {
				out++
			}
		case !d.isAvailable(old):
			ill = append(ill, old)
			out++
		case out < most:
			well = append(well, old)
		}
	}
	return append(ill, well[:min(max(most-out, 0), len(well))]...)
}

func (d *daemonSync) overlap(nodes []*kube.Node, wanted, surge int) (create []string, remove []*kube.Pod) {
	var more []string
	var strays []*kube.Pod // available, on nodes where none should run
	doubled, up := 0, 0
	for _, n := range nodes {
		fresh, old, ok := d.pair(n.Name)
		if !ok {
			doubled++
			continue
		}
		if p := old; p != nil && d.isAvailable(p) || p == nil && fresh != nil && d.isAvailable(fresh) {
			up++
		}
		if old == nil {
			continue
		}
		run, _ := d.fits(n)
		switch {
		case fresh != nil:
			if d.isAvailable(fresh) {
				remove = append(remove, old)
			} else {
				doubled++
			}
		case !d.isAvailable(old):
			if run {
				create = append(create, n.Name)
			} else {
				remove = append(remove, old)
			}
		case !run:
			strays = append(strays, old)
		case doubled < surge:
			more = append(more, n.Name)
		}
	}
	remove = append(remove, strays[:min(max(up-wanted, 0), len(strays))]...)
	return append(create, more[:min(max(surge-doubled, 0), len(more))]...), remove
}

// history finds the revision of the template, and creates it where there is none (constructHistory).
func (d *daemonSync) history() (current *object, old []*object) {
	data := d.dataOf(&d.set.Spec.Template)
	var same []*object
	next := int64(1)
	for _, r := range d.revisions(d.o) {
		if d.sameData(revised(r), data) {
			same = append(same, r)
		} else {
			old = append(old, r)
			next = max(next, revised(r).Revision+1)
		}
	}
	if len(same) == 0 {
		return d.snapshot(data, next), old
	}
	current = same[len(same)-1]
	for _, r := range same[:len(same)-1] {
		d.remove(r, false)
	}
	if revised(current).Revision < next {
		d.renumber(current, next)
	}
	return current, old
}

// snapshot creates a revision.
func (d *daemonSync) snapshot(data []byte, n int64) *object {
	hash := templateHash(&d.set.Spec.Template, d.set.Status.CollisionCount)
	rev := d.o.newRevision(data, n, with(d.set.Spec.Template.Labels, appsv1.DefaultDaemonSetUniqueLabelKey, hash))
	rev.Name = d.o.doc.Name + "-" + hash
	o, is := d.create(kinds["controllerrevisions"], rev)
	if o == nil || is || bytes.Equal(revised(o).Data.Raw, data) {
		return o
	}
	updateStatus(d.Actor, d.o, func(set *appsv1.DaemonSet) {
		count := int32(1)
		if c := set.Status.CollisionCount; c != nil {
			count += *c
		}
		set.Status.CollisionCount = &count
	})
	return nil
}

// truncate deletes the oldest revisions that no pod has, of which there are more than the DaemonSet keeps
// (cleanupHistory).
func (d *daemonSync) truncate(old []*object) {
	limit := d.set.Spec.RevisionHistoryLimit
	if limit == nil {
		return
	}
	surplus := len(old) - int(*limit)
	for _, r := range old {
		if surplus <= 0 {
			return
		}
		hash := r.api.GetLabels()[appsv1.DefaultDaemonSetUniqueLabelKey]
		if !slices.ContainsFunc(d.env.API.PodsOf(d.o.doc.UID), func(p *kube.Pod) bool { return p.Labels.Get(appsv1.DefaultDaemonSetUniqueLabelKey) == hash }) {
			d.remove(r, false)
			surplus--
		}
	}
}
