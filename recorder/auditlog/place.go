package auditlog

import (
	"cmp"
	"slices"
	"sort"
)

// mostSteps bounds how many of the known are looked at for a place among them: more writes don't end while the server works on one
// request, and a log whose requests came in 1970 would have all of them looked at for each of its evictions.
const mostSteps = 1000

// merge puts each of the others, which have no version, among the known, in the order of their times. Requests that the server worked on
// at the same time are in the log in the order of their ends: where the versions of the known leave no room at that place, the other was
// written before or after some of them.
func merge(known, others []entry) []entry {
	p := newPlacer(known)
	gaps := make([][]entry, len(known)+1) // before each of the known, and at the end
	for _, e := range others {
		gap := p.place(&e)
		if n := len(gaps[gap]); n > 0 {
			e.at = max(e.at, gaps[gap][n-1].at)
		}
		gaps[gap] = append(gaps[gap], e)
	}
	all := make([]entry, 0, len(known)+len(others))
	for i, e := range known {
		all = append(append(all, gaps[i]...), e)
	}
	return append(all, gaps[len(known)]...)
}

// A placer knows the gaps between entries with versions; gap i is before the one of index i.
type placer struct {
	known   []entry
	used    []uint64         // versions of each gap that have an entry
	latest  map[string]int   // the gap of an object's last entry without a version
	created map[string][]int // of the known, by name
	// Writes by their answers, each with the first gap after it and all before it; and by their requests, each with the last gap before it
	// and all after it.
	answered, received []moment
}

type moment struct {
	at  int64
	gap int
}

func newPlacer(known []entry) *placer {
	p := &placer{known: known, used: make([]uint64, len(known)+1), latest: map[string]int{}, created: map[string][]int{}}
	for i := range known {
		e := &known[i]
		if e.op == opRead {
			continue // it may show a state of long before
		}
		if e.op == opCreated {
			p.created[e.name] = append(p.created[e.name], i)
		}
		p.answered = append(p.answered, moment{e.answered, i + 1})
		p.received = append(p.received, moment{e.received, i})
	}
	byTime := func(a, b moment) int { return cmp.Compare(a.at, b.at) }
	slices.SortFunc(p.answered, byTime)
	slices.SortFunc(p.received, byTime)
	for i := 1; i < len(p.answered); i++ {
		p.answered[i].gap = max(p.answered[i].gap, p.answered[i-1].gap)
	}
	for i := len(p.received) - 2; i >= 0; i-- {
		p.received[i].gap = min(p.received[i].gap, p.received[i+1].gap)
	}
	return p
}

// place returns the gap of an entry, and sets its time to one of there.
func (p *placer) place(e *entry) int {
	lo, hi := p.bounds(e)
	start := min(max(sort.Search(len(p.known), func(i int) bool { return p.known[i].at > e.at }), lo), hi)
	gap, writes := start, e.op.writes()
	if e.gone() {
		writes = 0
	}
	if found := p.room(start, lo, hi, writes); found >= 0 {
		gap = found
	} else if found := p.room(start, lo, hi, 1); found >= 0 { // it may have taken one
		gap, writes = found, 1
	}
	if gap > 0 {
		e.at = max(e.at, p.known[gap-1].at)
	}
	if gap < len(p.known) {
		e.at = min(e.at, p.known[gap].at)
	}
	p.used[gap] += writes
	p.latest[e.name] = gap
	return gap
}

// bounds are the first and the last gap in which an entry may be: after what was answered when its request came, and before what was
// asked for when it was answered. It is after the creation of its object too, which a busy server may answer last.
func (p *placer) bounds(e *entry) (lo, hi int) {
	lo, hi = p.latest[e.name], len(p.known)
	if i := sort.Search(len(p.answered), func(i int) bool { return p.answered[i].at >= e.received }); i > 0 {
		lo = max(lo, p.answered[i-1].gap)
	}
	if i := sort.Search(len(p.received), func(i int) bool { return p.received[i].at > e.at }); i < len(p.received) {
		hi = p.received[i].gap
	}
	for _, i := range p.created[e.name] {
		switch c := &p.known[i]; {
		case e.gone():
			if c.answered > e.received { // it may not have been there yet
				hi = min(hi, i)
			}
		case c.received <= e.received:
			lo = max(lo, i+1)
		case i >= lo:
			hi = min(hi, i) // that of the next object of this name
		}
	}
	return lo, max(lo, hi)
}

// room returns the gap with room for so many versions that is nearest before the start, else after it; -1 where there is none.
func (p *placer) room(start, lo, hi int, writes uint64) int {
	has := func(gap int) bool {
		return gap == 0 || gap == len(p.known) || p.known[gap].version-p.known[gap-1].version > p.used[gap]+writes
	}
	for gap := start; gap >= max(lo, start-mostSteps); gap-- {
		if has(gap) {
			return gap
		}
	}
	for gap := start + 1; gap <= min(hi, start+mostSteps); gap++ {
		if has(gap) {
			return gap
		}
	}
	return -1
}
