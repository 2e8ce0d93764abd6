package tapediff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// DefaultTail is the time before a tape's end a history may break off: two turns of the node lifecycle controller.
const DefaultTail = 10 * time.Second

// Options say how two tapes are compared.
type Options struct {
	NameA, NameB string        // of the tapes, in the report; A and B
	Exclude      []Exclusion   // what can't agree
	Tail         time.Duration // DefaultTail; see the package comment

	// Skew bounds how far an Event may stand from the write that belongs to it, since two resources have no common
	// order; DefaultSkew. A tape that was slowed down has a slowed skew.
	Skew time.Duration

	// FromA and FromB are where the comparison begins on each tape: what is before is a state, as if the tape began
	// there with a list. A tape that shows how the cluster was built is so checked against one that doesn't.
	FromA, FromB time.Duration

	// InOrder compares the order of the transitions across nodes, too, by role with repeats merged: right where one
	// actor takes all steps, one after the other.
	InOrder bool
	// AnyCount lets the numbers of nodes differ: every node must have its like on the other tape, not its partner.
	AnyCount bool
}

// Compare reads both tapes to their ends. An error says that a tape can't be read or compared; a difference is no error.
func Compare(a, b *timeline.Reader, o Options) (Report, error) {
	o.NameA, o.NameB, o.Tail, o.Skew = cmp.Or(o.NameA, "A"), cmp.Or(o.NameB, "B"), cmp.Or(o.Tail, DefaultTail), cmp.Or(o.Skew, DefaultSkew)
	if err := CheckExclusions(o.Exclude); err != nil {
		return Report{}, err
	}
	l := &exclusionCounter{rows: o.Exclude, used: map[Exclusion]int{}}
	left, err := read(a, o.FromA, o.Skew, l)
	if err != nil {
		return Report{}, fmt.Errorf("compare %s: %w", o.NameA, err)
	}
	right, err := read(b, o.FromB, o.Skew, l)
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
		switch judge(a, b, chapter, track, c.ends, c.o) {
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
