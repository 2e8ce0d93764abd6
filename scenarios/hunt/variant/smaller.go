package variant

import (
	"iter"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// Smaller are files that are smaller than one, in one respect each, the largest steps first: fewer faults, workloads, groups, nodes
// and replicas, less time, settings as the base has them, an older seed. No step undoes another, so that taking one after the
// other comes to an end.
func Smaller(f, base *spec.File) iter.Seq[*spec.File] {
	return func(yield func(*spec.File) bool) {
		for _, steps := range []func(f, base *spec.File, yield func(*spec.File) bool) bool{
			fewerFaults, nameless, fewerWorkloads, fewerGroups, fewerNodes, fewerReplicas, usualSettings, simplerFaults, simplerWorkloads, lessTime, smallerSeed,
		} {
			if !steps(f, base, yield) {
				return
			}
		}
	}
}

// fewerFaults leaves out all faults, then halves of them, then each, with those that follow them.
func fewerFaults(f, _ *spec.File, yield func(*spec.File) bool) bool {
	for n := len(f.Faults); n > 0; n /= 2 {
		for from := 0; from < len(f.Faults); from += n {
			c := clone(f)
			c.Faults = without(f.Faults, from, min(from+n, len(f.Faults)))
			if !yield(c) {
				return false
			}
		}
	}
	return true
}

// without are faults but some of them, and but those that follow these.
func without(all []spec.Fault, from, to int) (rest []spec.Fault) {
	gone := map[string]bool{}
	drop := make([]bool, len(all))
	for i := from; i < to; i++ {
		drop[i] = true
	}
	for again := true; again; {
		again = false
		for i := range all {
			if drop[i] && all[i].Name != "" && !gone[all[i].Name] {
				gone[all[i].Name], again = true, true
			}
			if !drop[i] && all[i].After != nil && gone[all[i].After.Fault] {
				drop[i], again = true, true
			}
		}
	}
	for i := range all {
		if !drop[i] {
			rest = append(rest, all[i])
		}
	}
	return rest
}

// fewerWorkloads leaves out all workloads that nothing names, then each.
func fewerWorkloads(f, _ *spec.File, yield func(*spec.File) bool) bool {
	all := clone(f)
	for i := len(all.Workloads) - 1; i >= 0; i-- {
		if !named(all, &all.Workloads[i]) {
			dropWorkload(all, i)
		}
	}
	left := len(f.Workloads) - len(all.Workloads)
	if left > 1 && !yield(all) {
		return false
	}
	for i := range f.Workloads {
		if named(f, &f.Workloads[i]) {
			continue
		}
		c := clone(f)
		dropWorkload(c, i)
		if !yield(c) {
			return false
		}
	}
	for i := range f.Budgets {
		c := clone(f)
		c.Budgets = slices.Delete(c.Budgets, i, i+1)
		if !yield(c) {
			return false
		}
	}
	return true
}

// fewerGroups leaves out each group that nothing else names.
func fewerGroups(f, _ *spec.File, yield func(*spec.File) bool) bool {
	for i := range f.Groups {
		if len(f.Groups) == 1 || namedGroup(f, f.Groups[i].Name) {
			continue
		}
		c := clone(f)
		resize(c, i, 0)
		c.Groups = slices.Delete(c.Groups, i, i+1)
		if c.Roll != nil {
			c.Roll.Groups = slices.DeleteFunc(slices.Clone(c.Roll.Groups), func(name string) bool { return name == f.Groups[i].Name })
			if len(c.Roll.Groups) == 0 && len(f.Roll.Groups) > 0 {
				c.Roll = nil
			}
		}
		if !yield(c) {
			return false
		}
	}
	return true
}

// namedGroup reports whether a workload, a fault or the autoscaler names a group.
func namedGroup(f *spec.File, name string) bool {
	if a := f.Autoscaler; a != nil && (slices.Contains(a.Groups, name) ||
		slices.ContainsFunc(a.Standby, func(s spec.Standby) bool { return s.Group == name })) {
		return true
	}
	return slices.ContainsFunc(f.Workloads, func(w spec.Workload) bool { return w.Group == name }) ||
		slices.ContainsFunc(f.Faults, func(one spec.Fault) bool { return slices.Contains(groupsOf(&one), name) })
}

// groupsOf are the groups that a fault names; empty ones are none.
func groupsOf(f *spec.Fault) (all []string) {
	if f.When != nil {
		all = append(all, f.When.Group)
	}
	switch {
	case f.CapacityShortage != nil:
		all = append(all, f.CapacityShortage.Group)
	case f.NeverReady != nil:
		all = append(all, f.NeverReady.Group)
	case f.IPExhaustion != nil:
		all = append(all, f.IPExhaustion.Group)
	}
	if v := victimsOf(f); v != nil {
		all = append(all, v.Group)
	}
	return all
}

// fewer are the numbers below one, the least first: least, half of it, one less.
func fewer(n, least int) (some []int) {
	for _, k := range []int{least, n / 2, n - 1} {
		if k >= least && k < n && !slices.Contains(some, k) {
			some = append(some, k)
		}
	}
	return some
}

func fewerNodes(f, _ *spec.File, yield func(*spec.File) bool) bool {
	for i := range f.Groups {
		for _, n := range fewer(f.Groups[i].Nodes, min(1, f.Groups[i].Nodes)) {
			c := clone(f)
			resize(c, i, n)
			if !yield(c) {
				return false
			}
		}
	}
	return true
}

func fewerReplicas(f, _ *spec.File, yield func(*spec.File) bool) bool {
	for i := range f.Workloads {
		for _, n := range fewer(f.Workloads[i].Replicas, min(1, f.Workloads[i].Replicas)) {
			c := clone(f)
			scale(c, i, n)
			if !yield(c) {
				return false
			}
		}
	}
	return true
}

// lessTime ends the tape earlier, and waits less in the end.
func lessTime(f, _ *spec.File, yield func(*spec.File) bool) bool {
	for _, limit := range []time.Duration{f.TimeLimit / 8, f.TimeLimit / 2, f.TimeLimit * 3 / 4} {
		limit = limit.Truncate(time.Minute)
		if limit < time.Minute || limit >= f.TimeLimit || !reaches(f, limit) {
			continue
		}
		c := clone(f)
		c.TimeLimit = limit
		if !yield(c) {
			return false
		}
	}
	if f.Settle > 0 {
		c := clone(f)
		c.Settle = 0
		return yield(c)
	}
	return true
}

// reaches reports whether all that has a time in the file happens within a limit, as the file's checks want it.
func reaches(f *spec.File, limit time.Duration) bool {
	late := slices.ContainsFunc(f.Faults, func(one spec.Fault) bool { return one.At != nil && *one.At > limit }) ||
		slices.ContainsFunc(f.Workloads, func(w spec.Workload) bool { return w.CreateAt > limit })
	return !late && f.Settle <= limit && (f.Roll == nil || f.Roll.At <= limit)
}

// smallerSeed tries the first seeds: a small number says that the case doesn't hang on it.
func smallerSeed(f, _ *spec.File, yield func(*spec.File) bool) bool {
	for seed := range min(f.Seed, 4) {
		if seed == 0 {
			continue
		}
		c := clone(f)
		c.Seed = seed
		if !yield(c) {
			return false
		}
	}
	return true
}
