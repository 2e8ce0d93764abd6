package auditlog

import (
	"cmp"
	"slices"
)

// order sorts the entries as the server did it: those with a version by it, all others by their
// time among them. Times never decrease then. It reports whether there is a version for each of those
// that have none of their own, and gives it.
//
// A read shows a state of before, so it counts at the latest when the next write does. An entry
// that says what an earlier one has said is dropped.
func (r *resource) order() (versions bool) {
	var known, others []entry
	for _, e := range r.entries {
		if e.version > 0 {
			known = append(known, e)
		} else {
			others = append(others, e)
		}
	}
	slices.SortStableFunc(known, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.name, b.name),
			-cmp.Compare(a.op, b.op), cmp.Compare(a.at, b.at))
	})
	known = slices.CompactFunc(known, func(a, b entry) bool { return a.version == b.version && a.name == b.name })
	next := int64(never)
	for i := len(known) - 1; i >= 0; i-- {
		if e := &known[i]; e.op == opRead {
			e.at = min(e.at, next)
		} else {
			next = e.at
		}
	}
	for i := 1; i < len(known); i++ {
		known[i].at = max(known[i].at, known[i-1].at)
	}
	slices.SortStableFunc(others, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	r.entries = merge(known, others)
	return r.number()
}

// number gives a version to each entry that has none: the server has given one to each change, which
// only isn't in the log.
func (r *resource) number() bool {
	next := make([]uint64, len(r.entries)) // the next version from there on
	after := uint64(0)
	for i := len(r.entries) - 1; i >= 0; i-- {
		if v := r.entries[i].version; v > 0 {
			after = v
		}
		next[i] = after
	}
	before, asked := uint64(1), 0 // writes before the first version, and entries that write
	for i, e := range r.entries {
		if e.op == opRefused {
			continue
		}
		if asked++; next[i] == after && e.version == 0 {
			before += e.op.writes()
		}
	}
	if after <= before { // nothing is below it
		return asked == 0
	}
	r.list = after - before
	last := r.list
	for i := range r.entries {
		e := &r.entries[i]
		switch {
		case e.op == opRefused:
		case e.version > 0:
			last = e.version
		case next[i] > 0 && last+1 >= next[i]:
			return false
		default:
			last++
			e.version, e.twice = last, e.op.writes() > 1 && (next[i] == 0 || last+1 < next[i])
			if e.twice {
				last++
			}
		}
	}
	return true
}
