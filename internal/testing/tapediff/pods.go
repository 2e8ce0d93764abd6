package tapediff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A group is a set of chapters of pods that must be equal to its like.
type group struct{ workload, fate, chapter string }

func (g group) String() string {
	switch g.chapter {
	case start:
		return "the start of pods of " + g.workload
	case run:
		return fmt.Sprintf("the run of pods of %s that were %s", g.workload, g.fate)
	}
	return fmt.Sprintf("the end of pods of %s that were %s", g.workload, g.fate)
}

// groups sorts the chapters of pods.
func groups(pods []*history) map[group][]*history {
	all := map[group][]*history{}
	for _, h := range pods {
		for _, chapter := range slices.Sorted(maps.Keys(h.chapters)) {
			g := group{workload: h.pod.workload, fate: h.pod.fate, chapter: chapter}
			switch {
			case chapter == start:
				g.fate = "" // which a start doesn't know yet
			case h.pod.passed:
				continue
			}
			all[g] = append(all[g], h)
		}
	}
	return all
}

// pods compares the sets of chapters.
func (c *comparison) pods(left, right []*history) {
	c.Pods += len(left) + len(right)
	a, b := groups(left), groups(right)
	all := maps.Clone(a)
	maps.Copy(all, b)
	order := slices.SortedFunc(maps.Keys(all), func(g, h group) int {
		return cmp.Or(cmp.Compare(g.workload, h.workload), -cmp.Compare(g.chapter, h.chapter), cmp.Compare(g.fate, h.fate))
	})
	for _, g := range order {
		if len(a[g]) == 0 || len(b[g]) == 0 {
			c.differ(Difference{
				Subject: g.String(), Track: "count",
				A: count(a[g]), B: count(b[g]),
			})
			continue
		}
		clear(c.told)
		keysA, keysB := byKey(a[g], g.chapter), byKey(b[g], g.chapter)
		c.sets(g, keysA, keysB, b[g], false)
		c.sets(g, keysB, keysA, a[g], true)
	}
}

// byKey sorts histories by what one chapter says.
func byKey(list []*history, chapter string) map[string][]*history {
	all := map[string][]*history{}
	for _, h := range list {
		all[h.key(chapter)] = append(all[h.key(chapter)], h)
	}
	return all
}

// sets looks for the like of every chapter of one tape among those of the other.
func (c *comparison) sets(g group, mine, theirs map[string][]*history, list []*history, swapped bool) {
	for _, key := range slices.Sorted(maps.Keys(mine)) {
		h := mine[key][0]
		if theirs[key] != nil {
			c.Alike += h.steps(g.chapter) * len(mine[key])
			continue
		}
		other := list[nearest(h, list, g.chapter)]
		for _, candidate := range list {
			if c.excused(h, candidate, g.chapter, swapped) {
				other = candidate
				break
			}
		}
		subject := fmt.Sprintf("%s (%d of them)", g, len(mine[key]))
		if swapped {
			h, other = other, h
		}
		both := [2]string{h.key(g.chapter), other.key(g.chapter)}
		if c.told[both] {
			continue // from the other side
		}
		c.told[both] = true
		c.chapters(subject, h, other, g.chapter)
	}
}

// excused reports whether two chapters differ by nothing but where they break off.
func (c *comparison) excused(h, other *history, chapter string, swapped bool) bool {
	if swapped {
		h, other = other, h
	}
	for track := range union(h.chapters[chapter], other.chapters[chapter]) {
		if judge(h, other, chapter, track, c.ends, c.o) == differs {
			return false
		}
	}
	return true
}
