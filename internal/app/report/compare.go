package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/analysis/diff"
)

// Side is one of the tapes of a page: its analysis, with Options.Series, and its feed.
type Side struct {
	Analysis *analysis.Analysis
	Feed     []Line
	by       time.Duration // how much later the page has its moments
}

// comparison is what the page of two tapes has more than that of one.
type comparison struct {
	Headline string       `json:"headline"`
	Zero     int64        `json:"zero"` // where the axis counts from: both rolls begin there
	Rows     []difference `json:"rows"`
	// Pairs are what is compared with what: by the kind of the page's row, places in the lists.
	Pairs map[string][][2]int `json:"pairs"`
}

// difference is a row of a diff, in the words of its text. A and B of Places are where the page has it, -1 for nowhere: a phase has
// the node that took longest.
type difference struct {
	Scope   string `json:"scope"`
	Object  string `json:"object"`
	Measure string `json:"measure"`
	A       string `json:"a"`
	B       string `json:"b"`
	Change  string `json:"change"`
	Longer  int    `json:"longer"` // 1 or -1 of a time that is longer or shorter in B, 0 of all else
	Why     string `json:"why"`
	Places  [2]int `json:"places"`
}

// WriteDiff writes the report of two tapes side by side: d is the diff of their analyses. The same values give the same bytes.
func WriteDiff(w io.Writer, d *diff.Diff, a, b Side) error {
	zero := together(d, &a, &b)
	page := newDocument(a, b)
	page.Compared = page.comparison(d, zero)
	data, err := page.json()
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return write(w, clean(a.Analysis.Tape.Name)+" and "+clean(b.Analysis.Tape.Name), data)
}

// together moves the side whose roll begins earlier, so that both begin in one place of the page, and returns that. Those are the
// first rolls that are compared, or the first of each side; without them, or where times are too long for that, both tapes begin
// together.
func together(d *diff.Diff, a, b *Side) time.Duration {
	var begins [2]time.Duration
	if ra, rb := a.Analysis.Rolls, b.Analysis.Rolls; len(ra) > 0 && len(rb) > 0 {
		first := [2]int{}
		for _, p := range d.Pairs {
			if p.Scope == diff.ScopeRoll && p.A >= 0 && p.B >= 0 {
				first = [2]int{p.A, p.B}
				break
			}
		}
		begins = [2]time.Duration{ra[first[0]].Start.At.Truncate(time.Millisecond), rb[first[1]].Start.At.Truncate(time.Millisecond)}
	}
	zero := max(begins[0], begins[1])
	for i, s := range []*Side{a, b} {
		if last := s.last(); last > math.MaxInt64-(zero-begins[i]) { // times of centuries, which only a made-up tape has
			return 0
		}
	}
	a.by, b.by = zero-begins[0], zero-begins[1]
	return zero
}

// rowOf is the kind of the page's row that shows a scope.
func rowOf(s diff.Scope) string {
	if s == diff.ScopePhase {
		return string(diff.ScopeNode)
	}
	return string(s)
}

func (b *builder) comparison(d *diff.Diff, zero time.Duration) *comparison {
	c := &comparison{Headline: clean(d.Headline()), Zero: zero.Milliseconds(), Rows: []difference{}, Pairs: map[string][][2]int{}}
	type object struct {
		scope diff.Scope
		name  string
	}
	found := map[object][2]int{}
	for _, p := range d.Pairs {
		at := [2]int{p.A, p.B}
		if p.B >= 0 {
			at[1] += b.Tapes[1].First.of(rowOf(p.Scope))
		}
		found[object{p.Scope, p.Object}] = at
		if p.Scope != diff.ScopePhase && p.A >= 0 && p.B >= 0 {
			c.Pairs[rowOf(p.Scope)] = append(c.Pairs[rowOf(p.Scope)], at)
		}
	}
	for _, r := range d.Rows {
		longer := 0
		if delta, ok := r.Delta(); ok {
			longer = cmp.Compare(delta.Duration, 0)
		}
		c.Rows = append(c.Rows, difference{
			string(r.Scope), clean(r.Object), r.Measure, r.A.String(), r.B.String(), r.Change(), longer, clean(r.Because()),
			found[object{r.Scope, r.Object}],
		})
	}
	return c
}

// of is where a kind of row begins in its list.
func (p places) of(kind string) int {
	switch kind {
	case "roll":
		return p.Roll
	case "node":
		return p.Node
	case "workload":
		return p.Workload
	case "budget":
		return p.Budget
	}
	return p.Finding
}
