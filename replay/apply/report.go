package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
)

// Report says what a replay has come to. Nothing that the tape holds is left
// out in silence: every change of an object on it is in one of the counts.
type Report struct {
	// Position bounds how far the tape was written.
	Position time.Duration
	// Changes counts the changes of objects that the tape has shown.
	Changes int
	// Resources are in the tape's order, then what was made besides.
	Resources []Written
	// Skipped says what was not written, and why; Changed, what is in the
	// cluster in another form than on the tape, and why.
	Skipped, Changed []Remark
	// Requests counts what was sent, Retries and Conflicts how often something
	// had to be sent again.
	Requests, Retries, Conflicts int
}

// Written counts what was done with the objects of one resource.
type Written struct {
	Resource string
	// Created, Adopted (found from an earlier run, and brought to the tape's
	// state), Updated, Deleted and Unchanged count changes of the tape.
	Created, Adopted, Updated, Deleted, Unchanged int
}

// Remark is something about a number of changes, with one of them as an example.
type Remark struct {
	Resource string
	Reason   string
	Count    int
	Example  string // namespace/name
}

// reportBuilder collects a Report while it grows.
type reportBuilder struct {
	Report
	written          map[string]*Written
	skipped, changed map[Remark]*Remark
}

func newReportBuilder() *reportBuilder {
	return &reportBuilder{written: map[string]*Written{}, skipped: map[Remark]*Remark{}, changed: map[Remark]*Remark{}}
}

func (l *reportBuilder) of(resource string) *Written {
	w, ok := l.written[resource]
	if !ok {
		w = &Written{Resource: resource}
		l.written[resource] = w
	}
	return w
}

func (l *reportBuilder) skip(resource, reason, example string) {
	remark(l.skipped, resource, reason, example)
}

func (l *reportBuilder) change(resource, reason, example string) {
	remark(l.changed, resource, reason, example)
}

func remark(in map[Remark]*Remark, resource, reason, example string) {
	key := Remark{Resource: resource, Reason: reason}
	r, ok := in[key]
	if !ok {
		r = &Remark{Resource: resource, Reason: reason, Example: example}
		in[key] = r
	}
	r.Count++
}

// report returns what the report holds now, in an order that doesn't change.
func (l *reportBuilder) report() Report {
	out := l.Report
	for _, name := range slices.Sorted(maps.Keys(l.written)) {
		out.Resources = append(out.Resources, *l.written[name])
	}
	out.Skipped, out.Changed = sorted(l.skipped), sorted(l.changed)
	return out
}

func sorted(of map[Remark]*Remark) []Remark {
	var out []Remark
	for _, r := range of {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Remark) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// Touched counts the objects that were created, updated, deleted or found from
// an earlier run.
func (r Report) Touched() (n int) {
	for _, w := range r.Resources {
		n += w.Created + w.Updated + w.Deleted + w.Adopted
	}
	return n
}

// String is the report for people, a line a fact.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of the tape, by %s", phrase.Count(r.Changes, "change"), phrase.Count(r.Requests, "request"))
	if r.Retries+r.Conflicts > 0 {
		fmt.Fprintf(&b, " (%s, %s)", phrase.Count(r.Retries, "repeat"), phrase.Count(r.Conflicts, "conflict"))
	}
	b.WriteByte('\n')
	for _, w := range r.Resources {
		fmt.Fprintf(&b, "  %s: %d created, %d updated, %d deleted", w.Resource, w.Created, w.Updated, w.Deleted)
		if w.Adopted > 0 {
			fmt.Fprintf(&b, ", %d found from an earlier run", w.Adopted)
		}
		if w.Unchanged > 0 {
			fmt.Fprintf(&b, ", %d as they were", w.Unchanged)
		}
		b.WriteByte('\n')
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "  left out, %s: %s (%s)\n", s.where(), phrase.Escaped(s.Reason), phrase.Count(s.Count, "change"))
	}
	for _, c := range r.Changed {
		fmt.Fprintf(&b, "  not as on the tape, %s: %s (%s)\n", c.where(), phrase.Escaped(c.Reason), phrase.Count(c.Count, "time"))
	}
	return b.String()
}

func (r Remark) where() string {
	if r.Example == "" {
		return r.Resource
	}
	return r.Resource + " such as " + phrase.Escaped(r.Example)
}
