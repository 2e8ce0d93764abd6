package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/phrase"
)

// A checker fills in what a file leaves out, and refuses what can't be: what
// refers to nothing, contradicts itself, or is too large. What may happen in a
// real cluster, such as pods that find no room, is not refused.
type checker struct {
	file  string
	lines map[string]int
	f     *File
}

// has reports whether the file has a key.
func (c *checker) has(path string) bool { return c.lines[path] > 0 }

// bad is an Error at a key, or at the nearest one above it.
func (c *checker) bad(path, found, wanted string) *Error {
	e := &Error{File: c.file, Path: path, Found: found, Wanted: wanted}
	for at := path; e.Line == 0 && at != ""; {
		e.Line = c.lines[at]
		if i := strings.LastIndexAny(at, ".["); i >= 0 {
			at = at[:i]
		} else {
			at = ""
		}
	}
	return e
}

// unknown says that a name refers to nothing.
func (c *checker) unknown(path, what, name string, known []string) *Error {
	wanted := list(known)
	if len(known) == 0 {
		wanted = fmt.Sprintf("the name of one; the file has no %s that could be meant", what)
	}
	e := c.bad(path, fmt.Sprintf("no %s %q", what, name), wanted)
	if len(known) > 20 {
		e.Wanted = strings.Join(known[:20], ", ") + fmt.Sprintf(" or one of %d more", len(known)-20)
	}
	if e.Remedy = didYouMean(phrase.Closest(name, known)); e.Remedy != "" {
		e.Wanted = ""
	}
	return e
}

// check is the whole of it, in the order of the file's keys.
func (c *checker) check() *Error {
	for _, step := range []func() *Error{
		c.names, c.zones, func() *Error { c.fill(); return nil }, c.sound,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// sound checks a file in which nothing is left to fill in.
func (c *checker) sound() *Error {
	for _, step := range []func() *Error{
		c.times, c.cluster, c.instanceTypes, c.groups, c.workloads, c.placed, c.sizes, c.budgets, c.roll, c.autoscaler, c.timings, c.faults, c.stream,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// names refuses what has the name of another one.
func (c *checker) names() *Error {
	once := func(kind, key string, count int, name func(i int) string) *Error {
		seen := map[string]bool{}
		for i := range count {
			if n := name(i); n != "" {
				if seen[n] {
					return c.bad(fmt.Sprintf("%s[%d].%s", kind, i, key), fmt.Sprintf("%q for the second time", n), "another name")
				}
				seen[n] = true
			}
		}
		return nil
	}
	f := c.f
	if err := once("groups", "name", len(f.Groups), func(i int) string { return f.Groups[i].Name }); err != nil {
		return err
	}
	workloads := map[types.NamespacedName]bool{}
	for i := range f.Workloads {
		key := f.Workloads[i].Key()
		if workloads[key] {
			return c.bad(fmt.Sprintf("workloads[%d].name", i), fmt.Sprintf("%q for the second time in the namespace %s", key.Name, key.Namespace), "another name")
		}
		workloads[key] = true
	}
	types := f.Cluster.InstanceTypes
	if err := once("cluster.instanceTypes", "name", len(types), func(i int) string { return types[i].Name }); err != nil {
		return err
	}
	return once("faults", "name", len(f.Faults), func(i int) string { return f.Faults[i].Name })
}

// zones refuses lists of zones that are empty or name one twice.
func (c *checker) zones() *Error {
	lists := []struct {
		path  string
		zones []string
	}{{"cluster.zones", c.f.Cluster.Zones}}
	for i, g := range c.f.Groups {
		lists = append(lists, struct {
			path  string
			zones []string
		}{fmt.Sprintf("groups[%d].zones", i), g.Zones})
	}
	for i, t := range c.f.Cluster.InstanceTypes {
		lists = append(lists, struct {
			path  string
			zones []string
		}{fmt.Sprintf("cluster.instanceTypes[%d].zones", i), t.Zones})
	}
	for _, l := range lists {
		if c.has(l.path) && len(l.zones) == 0 {
			return c.bad(l.path, "an empty list", "a zone at the least")
		}
		for i, z := range l.zones {
			if slices.Index(l.zones, z) < i {
				return c.bad(fmt.Sprintf("%s[%d]", l.path, i), fmt.Sprintf("%q for the second time", z), "each zone once")
			}
		}
	}
	return nil
}

func (c *checker) times() *Error { return c.within("settle", c.f.Settle) }

// within refuses a time that the tape never reaches.
func (c *checker) within(path string, at time.Duration) *Error {
	if at > c.f.TimeLimit {
		return c.bad(path, short(at), "at most the timeLimit, "+short(c.f.TimeLimit))
	}
	return nil
}

func (c *checker) cluster() *Error {
	k := &c.f.Cluster
	if known := handlersOf(k.Provider); !slices.Contains(known, k.Handler) {
		return c.bad("cluster.handler", fmt.Sprintf("%q", k.Handler), fmt.Sprintf("%s for the provider %s", list(known), k.Provider))
	}
	return nil
}

// handlersOf are those that can react to the notices of a provider's instances.
func handlersOf(p Provider) []Handler {
	switch p {
	case ProviderEKS:
		return []Handler{HandlerNone, HandlerNTH, HandlerMNG}
	case ProviderKarpenter:
		return []Handler{HandlerNone, HandlerNTH, HandlerKarpenter}
	case ProviderCAPI, ProviderKOps:
		return []Handler{HandlerNone, HandlerNTH}
	}
	return []Handler{HandlerNone}
}

// sizes refuses what is too large to simulate.
func (c *checker) sizes() *Error {
	nodes, pods := c.f.Nodes(), 0
	if nodes > MaxNodes {
		return c.bad("groups", fmt.Sprintf("%d nodes", nodes), fmt.Sprintf("at most %d in all", MaxNodes))
	}
	for _, w := range c.f.Workloads {
		if w.Kind == KindDaemonSet {
			pods += nodes
		}
		pods += max(w.Replicas, len(w.Pods))
	}
	for i := range c.f.Faults {
		if s := c.f.Faults[i].Scale; s != nil {
			if w := c.f.Workload(s.Workload); w != nil {
				pods += max(0, s.Replicas-w.Replicas)
			}
		}
	}
	if pods > MaxPods {
		return c.bad("workloads", fmt.Sprintf("%d pods", pods), fmt.Sprintf("at most %d in all", MaxPods))
	}
	return nil
}

func (c *checker) groupNames() []string {
	var names []string
	for _, g := range c.f.Groups {
		names = append(names, g.Name)
	}
	return names
}

// group refuses the name of a group that there isn't. An empty one is none.
func (c *checker) group(path, name string) *Error {
	if known := c.groupNames(); name != "" && !slices.Contains(known, name) {
		return c.unknown(path, "group", name, known)
	}
	return nil
}

// zone refuses a zone that the cluster doesn't have. An empty one is none.
func (c *checker) zone(path, name string) *Error {
	if name != "" && !slices.Contains(c.f.Cluster.Zones, name) {
		return c.unknown(path, "zone", name, c.f.Cluster.Zones)
	}
	return nil
}

// minorOf is the minor version in "1.34" and "v1.34.2-eks-ecaa3a6", whose forms were checked.
func minorOf(version string) int {
	rest := strings.TrimPrefix(strings.TrimPrefix(version, "v"), "1.")
	rest, _, _ = strings.Cut(rest, ".")
	n, err := strconv.Atoi(rest)
	if err != nil {
		return 0
	}
	return n
}
