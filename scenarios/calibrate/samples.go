package calibrate

import (
	"cmp"
	"slices"
	"time"
)

// A sample is one duration that a tape shows.
type sample struct {
	took time.Duration
	tape int // by its number
	// cluster is the UID of the tape's cluster, began and ended are wall times in nanoseconds. The cluster is "" where the tape
	// doesn't have them so exactly.
	cluster      string
	began, ended int64
}

// samples are what the tapes show of one timing.
type samples struct {
	seen []sample
	open []sample // what had not ended when its tape did, or when the node or machine was removed: it takes longer
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

// sample is one of this tape.
func (r *reading) sample(took time.Duration, from, until mark) sample {
	one := sample{took: took, tape: r.tape}
	if !r.coarse && !r.start.IsZero() {
		one.cluster = r.header.Source.Cluster
		one.began, one.ended = r.start.Add(from.at).UnixNano(), r.start.Add(until.at).UnixNano()
	}
	return one
}

// add takes a sample.
func (r *reading) add(timing string, from, until mark) {
	s := r.of(timing)
	if r.tooRough(timing, from, until) {
		s.rough++
		return
	}
	s.seen = append(s.seen, r.sample(max(until.at-from.at, 0), from, until))
}

// addExact takes a sample whose length the tape states.
func (r *reading) addExact(timing string, took time.Duration, from, until mark) {
	s := r.of(timing)
	s.seen = append(s.seen, r.sample(took, from, until))
}

// leave takes what has not ended by then: it takes longer.
func (r *reading) leave(timing string, from, by mark) {
	if by.at > from.at && !r.tooRough(timing, from, by) {
		s := r.of(timing)
		s.open = append(s.open, r.sample(by.at-from.at, from, by))
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

// once are the samples without those that several tapes have: tapes of one cluster may overlap, and one tape may be given twice. What
// an earlier tape has as well is left out, and so is what hadn't ended on one tape and is longer, or has ended, on another.
func (s *samples) once() *samples {
	if s == nil {
		return nil
	}
	return &samples{seen: s.seenOnce(), open: s.openOnce(), rough: s.rough}
}

// seenOnce leaves out what an earlier tape has as well. Several samples of one moment on one tape are several.
func (s *samples) seenOnce() (once []sample) {
	type moment struct {
		cluster      string
		began, ended int64
		nth          int // of its tape
	}
	type place struct {
		moment
		tape int
	}
	had, count := map[moment]bool{}, map[place]int{}
	for _, one := range s.seen { // in the order of the tapes
		if one.cluster != "" {
			m := moment{cluster: one.cluster, began: one.began, ended: one.ended}
			at := place{m, one.tape}
			m.nth = count[at]
			count[at]++
			if had[m] {
				continue
			}
			had[m] = true
		}
		once = append(once, one)
	}
	return once
}

// openOnce leaves out what is longer on another tape, or has ended there. Of several samples that one tape has from one moment on,
// the longest one is the longest one of another tape, and so on.
func (s *samples) openOnce() (once []sample) {
	type start struct {
		cluster string
		began   int64
		nth     int // of its tape, the longest one first
	}
	type lasting struct {
		sample
		start start
		open  int // 1 where it hadn't ended
	}
	var all []lasting
	for _, one := range s.seen {
		all = append(all, lasting{sample: one})
	}
	for _, one := range s.open {
		all = append(all, lasting{sample: one, open: 1})
	}
	slices.SortStableFunc(all, func(a, b lasting) int {
		return cmp.Or(cmp.Compare(a.tape, b.tape), cmp.Compare(a.began, b.began), cmp.Compare(b.ended, a.ended), cmp.Compare(a.open, b.open))
	})
	longest := map[start]*lasting{}
	for i := range all {
		one := &all[i]
		one.start = start{cluster: one.cluster, began: one.began}
		if i > 0 && all[i-1].tape == one.tape && all[i-1].began == one.began {
			one.start.nth = all[i-1].start.nth + 1
		}
		if was := longest[one.start]; was == nil || one.ended > was.ended || one.ended == was.ended && one.open < was.open {
			longest[one.start] = one
		}
	}
	for i := range all {
		if one := &all[i]; one.open == 1 && (one.cluster == "" || longest[one.start] == one) {
			once = append(once, one.sample)
		}
	}
	return once
}
