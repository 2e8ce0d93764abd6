package export

import (
	"cmp"
	"slices"

	"github.com/nodesim/nodesim/replay/analysis"
)

// move is a pod that had to leave its node, and the one that came for it: indexes of Analysis.Pods.
type move struct{ from, to int }

// moves pairs each pod that left a node which was drained or went away with the pod of its workload that came for it. The
// cluster doesn't say which pod replaces which: a StatefulSet's has the same name, and of others the pods that were created
// since are given out in the order in which the old ones left.
func moves(a *analysis.Analysis) []move {
	type name struct{ workload, namespace, pod string }
	left := map[string][]int{}   // by workload, in the order in which they left
	came := map[string][]int{}   // by workload, in the order in which they were created
	again := map[name][]int{}    // of the ones that came
	taken := map[int]bool{}      // of the ones that came
	replacement := map[int]int{} // of the ones that left
	drains := drainsByNode(a)
	var workloads []string
	for i, p := range a.Pods {
		if p.Workload == "" || p.Workload == "Pod/"+p.Namespace+"/"+p.Name {
			continue
		}
		if len(left[p.Workload])+len(came[p.Workload]) == 0 {
			workloads = append(workloads, p.Workload)
		}
		if p.Created != nil {
			came[p.Workload] = append(came[p.Workload], i)
		}
		if at := leaves(p); at != nil && p.Node != "" && (p.Evicted || p.Deleted == nil || drains.cover(p.Node, *at)) {
			left[p.Workload] = append(left[p.Workload], i)
		}
	}
	for _, w := range workloads {
		slices.SortStableFunc(came[w], func(i, j int) int { return before(*a.Pods[i].Created, *a.Pods[j].Created) })
		slices.SortStableFunc(left[w], func(i, j int) int { return before(*leaves(a.Pods[i]), *leaves(a.Pods[j])) })
		for _, i := range came[w] {
			n := name{w, a.Pods[i].Namespace, a.Pods[i].Name}
			again[n] = append(again[n], i)
		}
		for _, i := range left[w] {
			p := a.Pods[i]
			n := name{w, p.Namespace, p.Name}
			rest := again[n] // those left out were created before one that left earlier
			for len(rest) > 0 && before(*a.Pods[rest[0]].Created, *leaves(p)) < 0 {
				rest = rest[1:]
			}
			if len(rest) > 0 {
				taken[rest[0]], replacement[i] = true, rest[0]
				rest = rest[1:]
			}
			again[n] = rest
		}
		next := 0
		for _, i := range left[w] {
			if _, ok := replacement[i]; ok {
				continue
			}
			for next < len(came[w]) && (taken[came[w][next]] || before(*a.Pods[came[w][next]].Created, *leaves(a.Pods[i])) < 0) {
				next++
			}
			if next == len(came[w]) {
				break
			}
			taken[came[w][next]], replacement[i] = true, came[w][next]
		}
	}
	var out []move
	for i := range a.Pods {
		if j, ok := replacement[i]; ok {
			out = append(out, move{i, j})
		}
	}
	return out
}

// leaves is the moment from which on a workload misses a pod.
func leaves(p analysis.Pod) *analysis.Moment {
	if p.Deleted != nil {
		return p.Deleted
	}
	return p.Gone
}

func before(a, b analysis.Moment) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Line, b.Line))
}

// drainWindows are the drains of nodes, by their names.
type drainWindows map[string][]analysis.Node

func drainsByNode(a *analysis.Analysis) drainWindows {
	out := drainWindows{}
	for _, n := range a.Nodes {
		if n.DrainBegan != nil {
			out[n.Name] = append(out[n.Name], n)
		}
	}
	return out
}

// cover reports whether a node was being drained at this moment, or was drained and not gone yet.
func (d drainWindows) cover(node string, at analysis.Moment) bool {
	return slices.ContainsFunc(d[node], func(n analysis.Node) bool {
		return n.DrainBegan.At <= at.At && (n.Terminated == nil || at.At <= n.Terminated.At)
	})
}
