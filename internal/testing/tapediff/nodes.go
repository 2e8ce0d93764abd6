package tapediff

import (
	"cmp"
	"fmt"
	"slices"
)

// nodes compares nodes, role by role and pair by pair.
func (c *comparison) nodes(left, right []*history) {
	a, b := roles(left), roles(right)
	for _, role := range []string{"old", "new"} {
		if len(a[role]) != len(b[role]) && !c.o.AnyCount {
			c.differ(Difference{
				Subject: role + " nodes", Track: "count",
				A: count(a[role]), B: count(b[role]),
			})
		}
		for _, p := range pairs(a[role], b[role]) {
			x, y := p[0], p[1]
			number := slices.Index(a[role], x)
			if x == nil {
				number = slices.Index(b[role], y)
			}
			pair := Pair{Role: fmt.Sprintf("%s-%d", role, number+1)}
			if c.o.AnyCount {
				x, y = c.likes(x, y, a[role], b[role])
			}
			if x != nil {
				pair.A = x.name
			}
			if y != nil {
				pair.B = y.name
			}
			c.Pairs = append(c.Pairs, pair)
			if x != nil && y != nil {
				c.Nodes++
				c.chapters("node "+pair.Role, x, y, "")
			}
		}
	}
	slices.SortStableFunc(c.Pairs, func(p, q Pair) int {
		return cmp.Or(cmp.Compare(p.Role[:3], q.Role[:3]), cmp.Compare(len(p.Role), len(q.Role)), cmp.Compare(p.Role, q.Role))
	})
}

// count is a track that says how many there are.
func count(list []*history) []Step { return []Step{{At: -1, What: fmt.Sprint(len(list))}} }

// likes finds for a node without partner the one that it is most like.
func (c *comparison) likes(x, y *history, a, b []*history) (*history, *history) {
	if x == nil && len(a) > 0 {
		x = a[nearest(y, a, "")]
	}
	if y == nil && len(b) > 0 {
		y = b[nearest(x, b, "")]
	}
	return x, y
}

// A Pair is a node of the first tape and the node of the second one that it is compared with.
type Pair struct {
	Role string // "old-1", "new-2"
	A, B string // names; empty where there is no partner
}

// mostPairs bounds how many nodes of different history are paired by how much they differ; more are paired in their order.
const mostPairs = 64

// pairs matches histories of one role: those that are equal and have the same number first, then those that are equal,
// then those that differ least, in their order. A nil means a partner that is missing.
func pairs(a, b []*history) [][2]*history {
	taken := map[*history]bool{}
	var all [][2]*history
	pair := func(x, y *history) {
		all = append(all, [2]*history{x, y})
		taken[x], taken[y] = true, true
	}
	for i, x := range a {
		if i < len(b) && x.key("") == b[i].key("") {
			pair(x, b[i])
		}
	}
	free := map[string][]*history{}
	for _, y := range b {
		if !taken[y] {
			free[y.key("")] = append(free[y.key("")], y)
		}
	}
	for _, x := range a {
		if list := free[x.key("")]; !taken[x] && len(list) > 0 {
			pair(x, list[0])
			free[x.key("")] = list[1:]
		}
	}
	isTaken := func(h *history) bool { return taken[h] }
	left, rest := slices.DeleteFunc(slices.Clone(a), isTaken), slices.DeleteFunc(slices.Clone(b), isTaken)
	for _, x := range left {
		if len(rest) == 0 {
			pair(x, nil)
			continue
		}
		best := 0
		if len(left) <= mostPairs && len(rest) <= mostPairs {
			best = nearest(x, rest, "")
		}
		pair(x, rest[best])
		rest = slices.Delete(rest, best, best+1)
	}
	for _, y := range rest {
		pair(nil, y)
	}
	return all
}

// roles splits nodes into those that are there from the beginning and those that join, in the order of their creation.
func roles(nodes []*history) map[string][]*history {
	sorted := slices.Clone(nodes)
	slices.SortStableFunc(sorted, func(a, b *history) int {
		return cmp.Or(cmp.Compare(a.at, b.at), a.created.Compare(b.created), cmp.Compare(a.name, b.name))
	})
	all := map[string][]*history{}
	for _, h := range sorted {
		all[h.role()] = append(all[h.role()], h)
	}
	return all
}

// role tells a node that joins from one that is there.
func (h *history) role() string {
	if h.there {
		return "old"
	}
	return "new"
}
