package cycle

import (
	"cmp"
	"iter"
	"slices"
)

// candidate is an instance that may be drained, with what orders it. Times are split so that any two compare exactly.
type candidate struct {
	id          InstanceID
	rank        int
	class       int // of instances that cost the same, lower goes first
	seconds     int64
	nanoseconds int
	serving     bool
}

func compareCandidates(a, b candidate) int {
	return cmp.Or(
		cmp.Compare(a.rank, b.rank), cmp.Compare(a.class, b.class), cmp.Compare(a.seconds, b.seconds),
		cmp.Compare(a.nanoseconds, b.nanoseconds), cmp.Compare(a.id, b.id))
}

// queue are candidates, in any order.
type queue []candidate

// inOrder gives the candidates in their order and spoils the queue. The caller says how many it probably takes: few come
// off a heap, in O(n + k log n), many are sorted. Clusters are mostly listed in their order already; then neither is done.
func (q queue) inOrder(few int) iter.Seq[candidate] {
	if slices.IsSortedFunc(q, compareCandidates) {
		return slices.Values(q)
	}
	const worth = 8 // a heap pays where at most every eighth is taken
	if few > len(q)/worth {
		slices.SortFunc(q, compareCandidates)
		return slices.Values(q)
	}
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
	return func(yield func(candidate) bool) {
		for rest := q; len(rest) > 0; {
			if !yield(rest[0]) {
				return
			}
			last := len(rest) - 1
			rest[0] = rest[last]
			rest = rest[:last]
			rest.sink(0)
		}
	}
}

// sink lets the candidate at i go down until no one below it goes first.
func (q queue) sink(i int) {
	for {
		first := 2*i + 1
		if first >= len(q) {
			return
		}
		if right := first + 1; right < len(q) && compareCandidates(q[right], q[first]) < 0 {
			first = right
		}
		if compareCandidates(q[i], q[first]) <= 0 {
			return
		}
		q[i], q[first] = q[first], q[i]
		i = first
	}
}
