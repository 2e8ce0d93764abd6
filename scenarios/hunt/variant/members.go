package variant

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// keepMembers has a group keep its first members. The pods of the others weren't there.
func keepMembers(f *spec.File, g *spec.Group, nodes int) {
	gone := map[string]bool{}
	for _, m := range g.Members[nodes:] {
		gone[m.Name] = true
	}
	g.Members = slices.Clip(g.Members[:nodes])
	dropPods(f, gone)
}

// namedNodes reports whether a fault names a node.
func namedNodes(f *spec.File) bool {
	return slices.ContainsFunc(f.Faults, func(one spec.Fault) bool {
		v := victimsOf(&one)
		return v != nil && v.Node != ""
	})
}

// dropPods takes the pods away that ran on nodes. Their workloads want as many less, so that no others come in their place.
func dropPods(f *spec.File, gone map[string]bool) {
	for i := range f.Workloads {
		w := &f.Workloads[i]
		rest := slices.DeleteFunc(slices.Clone(w.Pods), func(p spec.PlacedPod) bool { return p.Node != "" && gone[p.Node] })
		less := len(w.Pods) - len(rest)
		if less == 0 {
			continue
		}
		w.Pods = rest
		if w.Kind != spec.KindDaemonSet {
			scale(f, i, max(w.Replicas-less, 0))
		}
	}
}

// nameless has nodesim name the nodes and place the pods of a cluster that was read.
func nameless(f, _ *spec.File, yield func(*spec.File) bool) bool {
	named := slices.ContainsFunc(f.Groups, func(g spec.Group) bool { return len(g.Members) > 0 })
	if !named && len(f.LeftOut) == 0 || namedNodes(f) {
		return true
	}
	c := clone(f)
	c.LeftOut = nil
	for i := range c.Groups {
		c.Groups[i].Members = nil
	}
	for i := range c.Workloads {
		c.Workloads[i].Pods = nil
	}
	return yield(c)
}
