package likeness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// DefaultTail is how long before a tape's end a history may break off: two turns of the node lifecycle controller.
const DefaultTail = 10 * time.Second

// Options say how two tapes are compared.
type Options struct {
	NameA, NameB string        // of the tapes, in the report; A and B
	Exclude      []Exclusion   // what can't agree
	Tail         time.Duration // DefaultTail; see the package comment

	// FromA and FromB are where the comparison begins on each tape: what stands before is a state, as if the tape began
	// there with a list. A tape that shows how the cluster was built is so held against one that doesn't.
	FromA, FromB time.Duration

	// InOrder compares the order of the transitions across nodes, too, by role with repeats merged: right where one
	// actor takes all steps, one after the other.
	InOrder bool
	// AnyCount lets the numbers of nodes differ: every node must have its like on the other tape, not its partner.
	AnyCount bool
}

// Compare reads both tapes to their ends. An error says that a tape can't be read or compared; a difference is no error.
func Compare(a, b *timeline.Reader, o Options) (Report, error) {
	o.NameA, o.NameB, o.Tail = cmp.Or(o.NameA, "A"), cmp.Or(o.NameB, "B"), cmp.Or(o.Tail, DefaultTail)
	if err := CheckExclusions(o.Exclude); err != nil {
		return Report{}, err
	}
	l := &ledger{rows: o.Exclude, used: map[Exclusion]int{}}
	left, err := read(a, o.FromA, l)
	if err != nil {
		return Report{}, fmt.Errorf("compare %s: %w", o.NameA, err)
	}
	right, err := read(b, o.FromB, l)
	if err != nil {
		return Report{}, fmt.Errorf("compare %s: %w", o.NameB, err)
	}
	c := &comparison{
		Report: Report{
			NameA: o.NameA, NameB: o.NameB, Used: l.used,
			Before: left.before + right.before, Aside: left.aside + right.aside,
		},
		o: o, ends: [2]time.Duration{left.end, right.end}, told: map[[2]string]bool{},
	}
	if o.InOrder {
		c.chapters("the roll", left.order, right.order, "")
	}
	c.nodes(left.nodes, right.nodes)
	c.pods(left.pods, right.pods)
	c.Budgets += c.named("budget", left.budgets, right.budgets)
	c.Others += c.named("", left.others, right.others)
	for _, n := range l.used {
		c.Excluded += n
	}
	return c.Report, nil
}

// comparison is a Report in the making.
type comparison struct {
	Report
	o    Options
	ends [2]time.Duration
	told map[[2]string]bool // chapters that were set side by side, in one group
}

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
			number := 0
			if x == nil {
				number = slices.Index(b[role], y)
			} else {
				number = slices.Index(a[role], x)
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
	slices.SortStableFunc(c.Pairs, func(p, q Pair) int { return cmp.Compare(p.Role, q.Role) })
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

// excused says whether two chapters differ by nothing but where they break off.
func (c *comparison) excused(h, other *history, chapter string, swapped bool) bool {
	if swapped {
		h, other = other, h
	}
	for track := range union(h.chapters[chapter], other.chapters[chapter]) {
		if judge(h, other, chapter, track, c.ends, c.o.Tail) == differs {
			return false
		}
	}
	return true
}

// named compares what has the same name on both tapes, and returns how many objects that were.
func (c *comparison) named(word string, left, right []*history) int {
	a, b := map[string]*history{}, map[string]*history{}
	for _, h := range left {
		a[h.kind+" "+h.path()] = h
	}
	for _, h := range right {
		b[h.kind+" "+h.path()] = h
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		x, y := a[name], b[name]
		// An object that one tape doesn't know has no steps there, up to its end.
		if x == nil {
			x = newHistory(y.kind, y.namespace, y.name, "", 0)
		}
		if y == nil {
			y = newHistory(x.kind, x.namespace, x.name, "", 0)
		}
		subject := name
		if word != "" {
			subject = word + " " + x.path()
		}
		c.chapters(subject, x, y, "")
	}
	return len(all)
}

// chapters compares two chapters track by track.
func (c *comparison) chapters(subject string, a, b *history, chapter string) {
	for _, track := range slices.Sorted(maps.Keys(union(a.chapters[chapter], b.chapters[chapter]))) {
		x, y := a.chapters[chapter][track], b.chapters[chapter][track]
		switch judge(a, b, chapter, track, c.ends, c.o.Tail) {
		case alike:
			c.Alike += len(x) + len(y)
		case cut:
			short := min(len(x), len(y))
			c.Alike += 2 * short
			c.Cut += len(x) + len(y) - 2*short
		case differs:
			c.differ(Difference{Subject: subject, Track: track, InA: a.path(), InB: b.path(), A: x, B: y})
		}
	}
}

func (c *comparison) differ(d Difference) { c.Differences = append(c.Differences, d) }
