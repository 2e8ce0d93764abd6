package likeness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Pair is a node of the first tape and the node of the second one that it is compared with.
type Pair struct {
	Role string // "old-1", "new-2"
	A, B string // names; empty where there is no partner
}

// mostPairs bounds how many nodes of different history are paired by how much they differ; more are paired in their order.
const mostPairs = 64

// pairs matches histories of one role: those that are equal and have the same number first, then those that are equal,
// then those that differ least, in their order. A nil stands for a partner that is missing.
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

// nearest is the index of the one that differs least, the first of several.
func nearest(h *history, list []*history, chapter string) int {
	best, least := 0, -1
	for i, other := range list {
		n := 0
		for track := range union(h.chapters[chapter], other.chapters[chapter]) {
			for _, row := range align(h.chapters[chapter][track], other.chapters[chapter][track]) {
				if row.mark != same {
					n++
				}
			}
		}
		if least < 0 || n < least {
			best, least = i, n
		}
	}
	return best
}

// union is the set of the tracks of two chapters.
func union(a, b map[string][]Step) map[string]bool {
	all := map[string]bool{}
	for track := range a {
		all[track] = true
	}
	for track := range b {
		all[track] = true
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

// A verdict is what is found of two tracks.
type verdict int

const (
	alike   verdict = iota
	cut             // one breaks off where its tape ends
	differs         // they differ
)

// judge compares one track of two objects; ends are those of their tapes. Where one breaks off, what it lacks must be
// the last that happened to the other object, but for the skew of two resources.
func judge(a, b *history, chapter, track string, ends [2]time.Duration, tail time.Duration) verdict {
	x, y := a.chapters[chapter][track], b.chapters[chapter][track]
	switch {
	case slices.Equal(words(x), words(y)):
		return alike
	case prefix(x, y) && a.breaksOff(chapter, track, ends[0]-tail) && y[len(x)].At >= shared(b, a, chapter)-skew:
		return cut
	case prefix(y, x) && b.breaksOff(chapter, track, ends[1]-tail) && x[len(y)].At >= shared(a, b, chapter)-skew:
		return cut
	}
	return differs
}

// breaksOff says whether a track may lack its last steps: the tape ends too soon after what it shows last, or the pod's
// end has cut off its start. What is deleted changes no more; only controllers still speak of it.
func (h *history) breaksOff(chapter, track string, from time.Duration) bool {
	if h.gone && !strings.HasPrefix(track, "events ") {
		return h.cutShort(chapter)
	}
	return h.last >= from || h.cutShort(chapter)
}

// shared is where the last step of h stands that other has, too.
func shared(h, other *history, chapter string) time.Duration {
	var last time.Duration
	for track, steps := range h.chapters[chapter] {
		for i, s := range steps {
			if their := other.chapters[chapter][track]; i < len(their) && their[i].What == s.What {
				last = max(last, s.At)
			}
		}
	}
	return last
}

// cutShort says whether an early end of the pod has cut off its start.
func (h *history) cutShort(chapter string) bool {
	return chapter == start && h.pod != nil && h.pod.ended && !h.pod.began
}

func prefix(short, long []Step) bool {
	return len(short) < len(long) && slices.Equal(words(short), words(long[:len(short)]))
}

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
			if chapter == start {
				g.fate = "" // which a start doesn't know yet
			}
			all[g] = append(all[g], h)
		}
	}
	return all
}
