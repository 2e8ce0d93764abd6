// Package labelindex finds selectors by the labels that they match, and what
// carries labels by a selector: n budgets over n pods are n look-ups where each
// selects pods of its own, not n times n comparisons.
//
// It never decides what matches: what it yields may match, and what it doesn't
// yield can't.
package labelindex

import (
	"iter"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// ComparisonsPerChange bounds how many selectors and label sets are compared for
// each pod and budget of a namespace that is set or deleted, on the average since
// the namespace is known. n budgets that ask for no label value of their own over n
// label sets would be n times n comparisons. A real namespace needs a few a change,
// since the index finds the budgets that ask for a value.
const ComparisonsPerChange = 128

// labelPair is a label with its value.
type labelPair struct{ key, value string }

// ByLabel finds what stands under a label. The zero ByLabel is empty.
type ByLabel[T comparable] map[labelPair]map[T]struct{}

func (x ByLabel[T]) add(p labelPair, t T) {
	if x[p] == nil {
		x[p] = make(map[T]struct{})
	}
	x[p][t] = struct{}{}
}

func (x ByLabel[T]) remove(p labelPair, t T) {
	if delete(x[p], t); len(x[p]) == 0 {
		delete(x, p)
	}
}

// Add puts t under all of its labels.
func (x ByLabel[T]) Add(t T, set map[string]string) {
	for k, v := range set {
		x.add(labelPair{k, v}, t)
	}
}

// Remove is the reverse of Add.
func (x ByLabel[T]) Remove(t T, set map[string]string) {
	for k, v := range set {
		x.remove(labelPair{k, v}, t)
	}
}

// needs returns labels of which one has to be there where a selector matches:
// of its requirements those of the one under which the fewest stand. ok is
// false where the selector asks for no value of any label.
func (x ByLabel[T]) needs(s labels.Selector) (pairs []labelPair, ok bool) {
	requirements, selectable := s.Requirements()
	if !selectable {
		return nil, true // it matches nothing
	}
	fewest := 0
	for _, r := range requirements {
		switch r.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
		default:
			continue
		}
		var of []labelPair
		n := 0
		for v := range r.Values() {
			of = append(of, labelPair{r.Key(), v})
			n += len(x[labelPair{r.Key(), v}])
		}
		if !ok || n < fewest {
			pairs, fewest, ok = of, n, true
		}
	}
	return pairs, ok
}

// MayMatch yields what a selector may match of all, in no order; of a nil
// ByLabel that is all.
func (x ByLabel[T]) MayMatch(s labels.Selector, all iter.Seq[T]) iter.Seq[T] {
	pairs, ok := x.needs(s)
	if x == nil || !ok {
		return all
	}
	return func(yield func(T) bool) {
		for _, p := range pairs {
			for t := range x[p] {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// Selecting finds the selectors that may match labels, by what each belongs to.
type Selecting[B comparable] struct {
	under  ByLabel[B]
	chosen map[B][]labelPair
	rest   map[B]struct{} // these ask for no value of any label
}

// NewSelecting returns an empty Selecting.
func NewSelecting[B comparable]() *Selecting[B] {
	return &Selecting[B]{ByLabel[B]{}, map[B][]labelPair{}, map[B]struct{}{}}
}

// Add puts in a selector, and whom it belongs to; of one b there is one.
func (x *Selecting[B]) Add(b B, s labels.Selector) {
	pairs, ok := x.under.needs(s)
	if !ok {
		x.rest[b] = struct{}{}
		return
	}
	x.chosen[b] = pairs
	for _, p := range pairs {
		x.under.add(p, b)
	}
}

// Remove takes out what belongs to b.
func (x *Selecting[B]) Remove(b B) {
	for _, p := range x.chosen[b] {
		x.under.remove(p, b)
	}
	delete(x.chosen, b)
	delete(x.rest, b)
}

// Size is how many there are.
func (x *Selecting[B]) Size() int { return len(x.chosen) + len(x.rest) }

// MayMatch yields what labels may be selected by, each once and in no order.
func (x *Selecting[B]) MayMatch(set map[string]string) iter.Seq[B] {
	return func(yield func(B) bool) {
		for k, v := range set {
			for b := range x.under[labelPair{k, v}] {
				if !yield(b) {
					return
				}
			}
		}
		for b := range x.rest {
			if !yield(b) {
				return
			}
		}
	}
}
