package diff

import (
	"cmp"
	"slices"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// Diff is the comparison of two analyses, A and B. All that is equal is left out.
type Diff struct {
	A, B Side
	// Rows are sorted by their scope, and in it the largest difference comes first.
	Rows []Row
	// Pairs are what was compared with what, equal or not, by scope and object. Each row is about the one of its scope and object.
	Pairs []Pair
}

// Pair is one thing on both sides, by its place in each analysis: of a roll, node, workload or budget in the list of these; of a
// phase the node that took longest, in Nodes; of a finding the first, in Findings. It is -1 where a side has none.
type Pair struct {
	Scope  Scope
	Object string
	A, B   int
}

// Side is one of the two tapes.
type Side struct {
	Tape     string        `json:"tape"`
	Duration time.Duration `json:"-"`
	Rolls    int           `json:"rolls"`
	Complete bool          `json:"complete"` // the tape wasn't cut off
	Gaps     int           `json:"gaps"`
}

// Scope is of what a row is.
type Scope string

// The scopes, in the order of the rows.
const (
	ScopeRoll     Scope = "roll"
	ScopePhase    Scope = "phase" // of the nodes of one role in a group
	ScopeNode     Scope = "node"
	ScopeWorkload Scope = "workload"
	ScopeBudget   Scope = "budget"
	ScopeFinding  Scope = "finding"
)

// Scopes are all scopes in their order.
func Scopes() []Scope {
	return []Scope{ScopeRoll, ScopePhase, ScopeNode, ScopeWorkload, ScopeBudget, ScopeFinding}
}

// Row is one measure of one thing that differs.
type Row struct {
	Scope Scope
	// Object is a group with the number of its roll, "shop old, draining", "shop old 2", Kind/namespace/name, or a finding's
	// kind and object.
	Object  string
	Measure string
	// A and B are what the sides have, nil where one has none.
	A, B *Value
	// Why are the waits that changed in the same direction, the largest first. Of a roll they are its own, with what each made it
	// longer by; where neither side has any, the parts of its critical path.
	Why []Reason
}

// Value is a duration, a count or a word.
type Value struct {
	Unit     Unit
	Duration time.Duration
	Count    int
	Word     string
}

// Unit says which field of a Value holds.
type Unit string

// The units.
const (
	UnitDuration Unit = "duration"
	UnitCount    Unit = "count"
	UnitWord     Unit = "word"
)

// Reason is a wait that differs, and by how much.
type Reason struct {
	// Kind is that of the wait: budget, grace. Of a part of a critical path it begins with the phase: "draining, grace".
	Kind   string
	Object string
	A, B   time.Duration
}

// Delta is how much longer B is.
func (r Reason) Delta() time.Duration { return r.B - r.A }

// Of compares two analyses. Where both were made with Series, findings about pods are compared by the pods' workloads.
func Of(a, b *analysis.Analysis) *Diff {
	left, right := newSide(a), newSide(b)
	left.match(right)
	d := &Diff{A: left.summary(), B: right.summary()}
	c := comparison{a: left, b: right}
	c.rolls()
	c.phases()
	c.nodes()
	c.workloads()
	c.budgets()
	c.findings()
	d.Rows, d.Pairs = c.rows, c.pairs
	scopes := Scopes()
	slices.SortStableFunc(d.Rows, func(x, y Row) int {
		return cmp.Or(
			cmp.Compare(slices.Index(scopes, x.Scope), slices.Index(scopes, y.Scope)),
			-cmp.Compare(x.weight(), y.weight()),
			cmp.Compare(x.Object, y.Object),
			cmp.Compare(x.Measure, y.Measure))
	})
	return d
}

// Delta is how much longer, or more, B is; ok says that both sides have the value and it is no word.
func (r Row) Delta() (delta Value, ok bool) {
	if r.A == nil || r.B == nil || r.A.Unit == UnitWord {
		return Value{}, false
	}
	return Value{Unit: r.A.Unit, Duration: r.B.Duration - r.A.Duration, Count: r.B.Count - r.A.Count}, true
}

// weight orders rows: words first, then durations by their difference, then counts by theirs.
func (r Row) weight() time.Duration {
	var v Value
	if delta, ok := r.Delta(); ok {
		v = delta
	} else {
		for _, side := range []*Value{r.A, r.B} {
			if side != nil {
				v = *side
			}
		}
	}
	switch v.Unit {
	case UnitWord:
		return 1<<63 - 1
	case UnitDuration:
		return time.Hour + v.Duration.Abs()
	}
	return time.Duration(max(v.Count, -v.Count))
}

// comparison collects the rows.
type comparison struct {
	a, b  *side
	rows  []Row
	pairs []Pair
}

// pair notes what is compared with what, and returns both; nil is what isn't there.
func pair[T any](c *comparison, scope Scope, object string, a, b []T, inA, inB map[string]int) (x, y *T) {
	p := Pair{Scope: scope, Object: object, A: -1, B: -1}
	if i, ok := inA[object]; ok {
		p.A, x = i, &a[i]
	}
	if i, ok := inB[object]; ok {
		p.B, y = i, &b[i]
	}
	c.pairs = append(c.pairs, p)
	return x, y
}

// measures are the values of one thing by their names.
type measures map[string]Value

func duration(d time.Duration) Value { return Value{Unit: UnitDuration, Duration: d} }
func count(n int) Value              { return Value{Unit: UnitCount, Count: n} }
func word(s string) Value            { return Value{Unit: UnitWord, Word: s} }

// compare adds a row for each measure that differs. A nil side isn't there.
func (c *comparison) compare(scope Scope, object string, a, b measures, why func(measure string, delta time.Duration) []Reason) {
	all := map[string]bool{}
	for _, side := range []measures{a, b} {
		for name := range side {
			all[name] = true
		}
	}
	for name := range all {
		row := Row{Scope: scope, Object: object, Measure: name, A: a.get(name), B: b.get(name)}
		if row.A != nil && row.B != nil && *row.A == *row.B {
			continue
		}
		if direction := row.direction(); why != nil && direction != 0 {
			row.Why = why(name, direction)
		}
		c.rows = append(c.rows, row)
	}
}

// direction is how much longer B is, or a second more or less where a roll ended in B, or in A, as it should not.
func (r Row) direction() time.Duration {
	var a, b Value
	if r.A != nil {
		a = *r.A
	}
	if r.B != nil {
		b = *r.B
	}
	if complete := string(analysis.Complete); a.Unit == UnitWord && b.Unit == UnitWord {
		switch {
		case a.Word == complete:
			return time.Second
		case b.Word == complete:
			return -time.Second
		}
	}
	return b.Duration - a.Duration
}

func (m measures) get(name string) *Value {
	if v, ok := m[name]; ok {
		return &v
	}
	return nil
}
