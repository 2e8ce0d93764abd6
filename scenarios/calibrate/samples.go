package calibrate

import "time"

// A sample is one duration that a tape shows.
type sample struct {
	took time.Duration
	tape int // by its number
}

// samples are what the tapes show of one timing.
type samples struct {
	seen []sample
	open []sample // what had not ended when its tape did: it takes longer
	// rough counts what was left out since its begin or end is known to the second only.
	rough int
}

// A mark is a moment of the tape. The zero mark is none.
type mark struct {
	at time.Duration
	is bool
	// rough says that it is known to the second only.
	rough bool
}

// here is the present position.
func (r *reading) here() mark { return mark{at: r.now, is: true, rough: r.coarse} }

// before is a moment so long before.
func (m mark) before(by time.Duration) mark {
	m.at = max(m.at-by, 0)
	return m
}

// roughest is the shortest timing that is measured by whole seconds, which are off by half a second on the average.
const roughest = 3 * time.Second

// add takes a sample.
func (r *reading) add(timing string, from, until mark) {
	s := r.of(timing)
	if r.tooRough(timing, from, until) {
		s.rough++
		return
	}
	s.seen = append(s.seen, sample{max(until.at-from.at, 0), r.tape})
}

// addExact takes a sample that the tape states.
func (r *reading) addExact(timing string, took time.Duration) {
	s := r.of(timing)
	s.seen = append(s.seen, sample{took, r.tape})
}

// leave takes what has not ended by then: it takes longer.
func (r *reading) leave(timing string, from, by mark) {
	if by.at > from.at && !r.tooRough(timing, from, by) {
		s := r.of(timing)
		s.open = append(s.open, sample{by.at - from.at, r.tape})
	}
}

func (r *reading) tooRough(timing string, from, until mark) bool {
	return (from.rough || until.rough) && r.usual(timing).Median < roughest
}

func (r *reading) of(timing string) *samples {
	s := r.samples[timing]
	if s == nil {
		s = &samples{}
		r.samples[timing] = s
	}
	return s
}
