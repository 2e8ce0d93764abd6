package variant

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// sizes draws how many nodes and replicas there are, and which workloads.
func (d *drawer) sizes() {
	for i := range d.f.Groups {
		g := &d.f.Groups[i]
		most := 2 * g.Nodes
		if len(g.Members) > 0 {
			most = g.Nodes
		}
		if most > 0 && d.once(2) {
			resize(d.f, i, 1+d.IntN(most))
		}
	}
	for i := range d.f.Workloads {
		if n := d.f.Workloads[i].Replicas; n > 0 && d.once(3) {
			scale(d.f, i, 1+d.IntN(2*n))
		}
	}
	if n := len(d.f.Workloads); n > 1 && d.once(8) {
		if i := d.IntN(n); !named(d.f, &d.f.Workloads[i]) {
			dropWorkload(d.f, i)
		}
	}
}

// resize gives a group another number of nodes, and what has to fit it. Of nodes with names, the first stay; there are no others.
func resize(f *spec.File, i, nodes int) {
	g := &f.Groups[i]
	fewer := false
	if n := len(g.Members); n > 0 {
		if nodes = min(nodes, n); namedNodes(f) {
			nodes = n
		}
		fewer = nodes < n
		keepMembers(f, g, nodes)
	}
	if g.NodesPerGroup > 0 {
		nodes = min(nodes, g.NodesPerGroup) // or the group is split, and nothing may name it
	}
	g.Nodes, g.Min = nodes, min(g.Min, nodes)
	if g.Max < nodes {
		g.Max = max(2*nodes, nodes+10) // as a file that leaves it out
	}
	switch {
	case fewer && nodes > 0: // the zones of those that stay, or one waits for a node in a zone that gets none
		g.Zones = spec.ZonesOf(g.Members, f.Cluster.Zones)
	case len(g.Members) == 0 && nodes > 0 && len(g.Zones) > nodes:
		g.Zones = slices.Clip(g.Zones[:nodes])
	}
}

// scale gives a workload other replicas. Budgets that want a number of its pods allow as many disruptions as before.
func scale(f *spec.File, i, replicas int) {
	w := &f.Workloads[i]
	if w.ReplicasPerWorkload > 0 {
		replicas = min(replicas, w.ReplicasPerWorkload)
	}
	more := replicas - w.Replicas
	w.Replicas = replicas
	w.Pods = w.Pods[:min(len(w.Pods), replicas)]
	for k := range f.Budgets {
		b := &f.Budgets[k]
		if m := b.MinAvailable; covers(f, b, w) && m != nil && !m.IsPercent {
			value := max(m.Value+more, 0)
			if b.Selector == nil {
				value = min(value, replicas)
			}
			b.MinAvailable = &spec.IntOrPercent{Value: value}
		}
	}
}

// covers reports whether a budget covers the pods of a workload, alone or with others.
func covers(f *spec.File, b *spec.Budget, w *spec.Workload) bool {
	if b.Selector == nil {
		return f.Covers(b) == w
	}
	s, err := metav1.LabelSelectorAsSelector(&b.Selector.LabelSelector)
	return err == nil && b.Namespace == w.Namespace && s.Matches(labels.Set(w.Labels()))
}

// dropWorkload takes a workload away that nothing names, with its budgets.
func dropWorkload(f *spec.File, i int) {
	scale(f, i, 0) // budgets that cover others too want that many pods less
	w := &f.Workloads[i]
	f.Budgets = slices.DeleteFunc(f.Budgets, func(b spec.Budget) bool { return f.Covers(&b) == w })
	f.Workloads = slices.Delete(f.Workloads, i, i+1)
}

// named reports whether the roll or a fault names a workload.
func named(f *spec.File, w *spec.Workload) bool {
	if f.Roll != nil && f.Roll.Workload != "" && f.Workload(f.Roll.Workload) == w {
		return true
	}
	return slices.ContainsFunc(f.Faults, func(one spec.Fault) bool {
		for _, ref := range refs(&one) {
			if ref != "" && f.Workload(ref) == w {
				return true
			}
		}
		return false
	})
}

// refs are the workloads that a fault names; empty ones are none.
func refs(f *spec.Fault) (all []string) {
	if f.When != nil {
		all = append(all, f.When.Workload)
	}
	switch {
	case f.ImagePull != nil:
		all = append(all, f.ImagePull.Workload)
	case f.Crash != nil:
		all = append(all, f.Crash.Workload)
	case f.MemoryLeak != nil:
		all = append(all, f.MemoryLeak.Workload)
	case f.VolumeStuck != nil:
		all = append(all, f.VolumeStuck.Workload)
	case f.CreateWorkload != nil:
		all = append(all, f.CreateWorkload.Workload)
	case f.Scale != nil:
		all = append(all, f.Scale.Workload)
	}
	return all
}
