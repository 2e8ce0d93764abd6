package analysis

import "time"

// intervals are times on the tape that don't overlap, in their order.
type intervals struct {
	all  []interval
	open bool // the last one
	sum  time.Duration
}

type interval struct{ from, to Moment }

// mostIntervals bounds how many are kept: of older ones only the sum is.
const mostIntervals = 4096

// begin starts an interval at a moment, or continues the last one.
func (t *intervals) begin(at Moment) {
	if t.open {
		return
	}
	t.open = true
	if n := len(t.all); n > 0 && !t.all[n-1].to.before(at) {
		return
	}
	if len(t.all) == mostIntervals {
		for _, i := range t.all[:mostIntervals/2] {
			t.sum += i.to.At - i.from.At
		}
		t.all = append(t.all[:0], t.all[mostIntervals/2:]...)
	}
	t.all = append(t.all, interval{at, at})
}

// back lets the open interval begin earlier, and swallow those that it then overlaps.
func (t *intervals) back(at Moment) {
	last := len(t.all) - 1
	for last > 0 && !t.all[last-1].to.before(at) && at.before(t.all[last].from) {
		t.all[last-1].to = t.all[last].to
		t.all = t.all[:last]
		last--
	}
	if at.before(t.all[last].from) {
		t.all[last].from = at
	}
}

// end ends the open interval.
func (t *intervals) end(at Moment) {
	if t.open {
		t.all[len(t.all)-1].to, t.open = at, false
	}
}

// is begins an interval where something is so, and ends it where it isn't.
func (t *intervals) is(so bool, at Moment) {
	if so {
		t.begin(at)
	} else {
		t.end(at)
	}
}

// lines are those of their moments, of the first ones as many as prove a finding.
func (t *intervals) lines() (all []int) {
	for _, i := range t.all[:min(len(t.all), mostLines)] {
		all = append(all, i.from.Line, i.to.Line)
	}
	return all
}

// total is the time in all of them; none is open.
func (t *intervals) total() time.Duration {
	d := t.sum
	for _, i := range t.all {
		d += i.to.At - i.from.At
	}
	return d
}

// within is the part of them that is between two positions, and the first and last moment of it.
func (t *intervals) within(from, to time.Duration) (d time.Duration, first, last Moment) {
	for _, i := range t.all {
		if i.to.At < from || i.from.At > to {
			continue
		}
		d += min(i.to.At, to) - max(i.from.At, from)
		if !first.is() {
			first = i.from
		}
		last = i.to
	}
	return d, first, last
}
