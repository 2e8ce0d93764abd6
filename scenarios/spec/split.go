package spec

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Split makes several groups and workloads of those that are larger than the file allows one to be (nodesPerGroup,
// replicasPerWorkload): a simulation and a live run know the results alone. What the file names stays as it is where
// nothing has to be split, as in a file that was split before; the receiver is never changed. The error says what
// else in the file names a group or workload that is split.
func (f *File) Split() (*File, error) {
	out := *f
	names := map[string][]string{} // what a group or workload has become
	out.Groups = nil
	for i := range f.Groups {
		g := &f.Groups[i]
		for _, one := range g.split() {
			names["group "+g.Name] = append(names["group "+g.Name], one.Name)
			out.Groups = append(out.Groups, one)
		}
	}
	out.Workloads = nil
	for i := range f.Workloads {
		w := f.Workloads[i]
		for k, n := range shares(w.Replicas, w.ReplicasPerWorkload) {
			one := w
			if n < w.Replicas {
				one.Pods = nil
				one.Name, one.Replicas = fmt.Sprintf("%s-%d", w.Name, k+1), n
			}
			names["workload "+w.Key().String()] = append(names["workload "+w.Key().String()], one.Name)
			out.Workloads = append(out.Workloads, one)
		}
	}
	out.Budgets = nil
	for _, b := range f.Budgets {
		w := f.Covers(&b)
		if w == nil {
			out.Budgets = append(out.Budgets, b)
			continue
		}
		for _, name := range names["workload "+w.Key().String()] {
			one := b
			if name != w.Name {
				one.Name, one.Workload = name, name
			}
			out.Budgets = append(out.Budgets, one)
		}
	}
	if f.Roll != nil {
		r := *f.Roll
		r.Groups = nil
		for _, name := range f.Roll.Groups {
			r.Groups = append(r.Groups, names["group "+name]...)
		}
		out.Roll = &r
	}
	for _, kind := range []string{"group", "workload"} {
		if name, parts := f.namesSplit(kind, names); parts > 1 {
			return f, fmt.Errorf("%s %q is split into %d: nothing in the file may name it then", kind, name, parts)
		}
	}
	return &out, nil
}

// split are the groups that this one is made of: itself, where it isn't too large.
func (g *Group) split() []Group {
	var parts []Group
	for k, n := range shares(g.Nodes, g.NodesPerGroup) {
		one := *g
		if n < g.Nodes {
			one.Name = fmt.Sprintf("%s-%d", g.Name, k+1)
			one.Nodes, one.Max, one.Min = n, n+max(1, n*(g.Max-g.Nodes)/max(1, g.Nodes)), min(g.Min, n)
		}
		parts = append(parts, one)
	}
	return parts
}

// shares cuts a total into parts of nearly the same size, none above most.
func shares(total, most int) []int {
	if most <= 0 || total <= most {
		return []int{total}
	}
	parts := (total + most - 1) / most
	out := make([]int, parts)
	for i := range out {
		out[i] = total / parts
		if i < total%parts {
			out[i]++
		}
	}
	return out
}

// namesSplit finds a group or workload that is split and named by a fault, a
// workload or the autoscaler, and the number of its parts; 0 where there is none.
func (f *File) namesSplit(kind string, names map[string][]string) (name string, parts int) {
	var used []string
	if kind == "group" {
		for i := range f.Workloads {
			used = append(used, f.Workloads[i].Group)
		}
		if f.Autoscaler != nil {
			used = append(used, f.Autoscaler.Groups...)
		}
	} else if f.Roll != nil {
		used = append(used, f.Roll.Workload)
	}
	for i := range f.Faults {
		namedIn(reflect.ValueOf(f.Faults[i]), "", func(_, key, name string) bool {
			if key == kind {
				used = append(used, name)
			}
			return true
		})
	}
	for _, name := range used {
		key := kind + " " + name
		if w := f.Workload(name); w != nil && kind == "workload" {
			key = kind + " " + w.Key().String()
		}
		if parts := len(names[key]); parts > 1 {
			return name, parts
		}
	}
	return "", 0
}

// Shards divides a file that was split ([File.Split]) by its groups, for several processes that each run the nodes of one shard. The groups
// of the roll stay together, since they are rolled one after another; otherwise the shards are as even as their groups allow. Every shard has
// all workloads and budgets, and the one with the roll's groups has the roll. The error says what in the file can't be divided.
func (f *File) Shards(n int) ([]*File, error) {
	if why := f.undivided(); why != "" {
		return nil, fmt.Errorf("%s: want one process", why)
	}
	units := f.units()
	if n < 1 || n > len(units) {
		return nil, fmt.Errorf("found %d shards for %s: want 1 to %d", n, strings.Join(namesOf(units), ", "), len(units))
	}
	// The largest first, each to the shard with fewest nodes.
	slices.SortStableFunc(units, func(a, b []Group) int { return cmp.Compare(nodesOf(b), nodesOf(a)) })
	parts := make([][]Group, n)
	for _, u := range units {
		least := 0
		for i := range parts {
			if nodesOf(parts[i]) < nodesOf(parts[least]) {
				least = i
			}
		}
		parts[least] = append(parts[least], u...)
	}
	shards := make([]*File, n)
	for i, groups := range parts {
		one := *f
		one.Groups = groups
		if f.Roll != nil && !slices.ContainsFunc(groups, func(g Group) bool { return g.Name == f.Roll.Groups[0] }) {
			one.Roll = nil
		}
		shards[i] = &one
	}
	return shards, nil
}

// undivided is what of the file one process has to do, "" where there is nothing.
func (f *File) undivided() string {
	switch p := f.Cluster.Provider; {
	case p == ProviderKarpenter, p == ProviderCAPI:
		return fmt.Sprintf("provider %s acts on the nodes of all groups", p)
	case f.Autoscaler != nil:
		return "the autoscaler acts on the nodes of all groups"
	case f.Roll != nil && len(f.Roll.Groups) == 0:
		return "a roll in place is of the pods on all nodes"
	case len(f.Faults) > 0:
		return "a fault chooses among the nodes of all groups"
	}
	for i := range f.Workloads {
		w := &f.Workloads[i]
		switch {
		case w.Volume != nil:
			return fmt.Sprintf("workload %s has volumes, whose driver is one process", w.Key())
		case len(w.Pods) > 0:
			return fmt.Sprintf("workload %s says where its pods are, which one process sees to", w.Key())
		case w.CreateAt > 0:
			return fmt.Sprintf("workload %s is created by one process", w.Key())
		}
	}
	return ""
}

// units are the groups that can't be divided further: those that are rolled, and each of the others.
func (f *File) units() (all [][]Group) {
	var rolled []Group
	for _, g := range f.Groups {
		if f.Roll != nil && slices.Contains(f.Roll.Groups, g.Name) {
			rolled = append(rolled, g)
			continue
		}
		all = append(all, []Group{g})
	}
	if len(rolled) > 0 {
		all = append([][]Group{rolled}, all...)
	}
	return all
}

func nodesOf(groups []Group) (n int) {
	for i := range groups {
		n += groups[i].Nodes
	}
	return n
}

// namesOf names each unit by its groups.
func namesOf(units [][]Group) []string {
	names := make([]string, len(units))
	for i, u := range units {
		all := make([]string, len(u))
		for k := range u {
			all[k] = u[k].Name
		}
		names[i] = strings.Join(all, " with ")
	}
	return names
}
