package calibrate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// Quantiles are the two figures by which a file writes a distribution.
type Quantiles struct{ Median, P95 time.Duration }

// spread is how many times as long as the median the 95th percentile is, 1 at least.
func (q Quantiles) spread() float64 {
	if q.Median <= 0 {
		return 1
	}
	return max(float64(q.P95)/float64(q.Median), 1)
}

// How many samples say what: see the package.
const (
	few  = 5
	many = 20
	// farOut is how many times the median is too long to be of the same kind.
	farOut = 8
)

// A fit is what is made of the samples of one timing.
type fit struct {
	used, left []sample // ended, and counted; not ended, and counted
	apart      []sample // far out
	found      Quantiles
	takes      Quantiles
	// beyond says that less than 95 % had ended, extrapolated that takes.P95 was made of those that had.
	beyond, extrapolated bool
}

// fitted fits a distribution to samples of which at least one has ended. usual is the estimate, least the shortest median.
func (s *samples) fitted(usual Quantiles, least time.Duration) fit {
	middle := quantile(s.seen, s.open, 0.5)
	spread := usual.spread()
	if middle == 0 { // most take no time, as pulls of images that are there: what some take is of the same kind
		middle = usual.Median
	}
	limit := max(float64(middle)*max(farOut, spread*spread*spread), float64(time.Millisecond))
	var f fit
	sort := func(from []sample, into *[]sample) {
		for _, one := range from {
			if float64(one.took) >= limit {
				f.apart = append(f.apart, one)
			} else {
				*into = append(*into, one)
			}
		}
	}
	sort(s.seen, &f.used)
	sort(s.open, &f.left)
	f.found = Quantiles{Median: quantile(f.used, f.left, 0.5), P95: quantile(f.used, f.left, 0.95)}
	f.takes = f.found
	if len(f.used) < few {
		f.takes.Median = quantile(append(slices.Clone(f.used), sample{took: usual.Median}), f.left, 0.5)
	}
	f.extrapolate()
	if usually := times(f.takes.Median, spread); len(f.used) < many && usually > f.takes.P95 {
		f.takes.P95, f.extrapolated = usually, false
	}
	f.takes.Median = max(rounded(f.takes.Median), least)
	f.takes.P95 = max(rounded(f.takes.P95), f.takes.Median)
	return f
}

// normal95 is the 95th percentile of the normal distribution.
const normal95 = 1.6448536

// extrapolate says what the 95th percentile is where less than 95 % had ended: that of the lognormal distribution with the median, and
// with the part that is longer than the longest time that is known. Where less than 60 % had ended, too little is known of that.
func (f *fit) extrapolate() {
	const close = 1e-9 // products of fractions
	longer := outlasting(f.used, f.left)
	f.beyond = longer > 0.05+close
	median := f.takes.Median
	if !f.beyond || longer >= 0.4-close || median <= 0 || f.found.P95 <= median {
		return
	}
	known := math.Sqrt2 * math.Erfinv(1-2*longer)
	// A few samples could ask for any length: farOut times the longest time that is known is the most.
	f.takes.P95 = min(times(median, math.Pow(float64(f.found.P95)/float64(median), normal95/known)), times(f.found.P95, farOut))
	f.extrapolated = true
}

// A point is a time at which a sample ended, or until which it is known not to have.
type point struct {
	took  time.Duration
	ended bool
}

// points are those of all samples, in their order.
func points(seen, open []sample) []point {
	all := make([]point, 0, len(seen)+len(open))
	for _, s := range seen {
		all = append(all, point{s.took, true})
	}
	for _, s := range open {
		all = append(all, point{s.took, false})
	}
	slices.SortFunc(all, func(a, b point) int {
		if c := cmp.Compare(a.took, b.took); c != 0 || a.ended == b.ended {
			return c
		}
		if a.ended {
			return -1 // what ends then was still going on before
		}
		return 1
	})
	return all
}

// outlasting is the part of the samples that is longer than the longest that ended, by the estimate of [quantile].
func outlasting(seen, open []sample) float64 {
	all, longer := points(seen, open), 1.0
	for i, p := range all {
		if p.ended {
			left := len(all) - i
			longer *= float64(left-1) / float64(left)
		}
	}
	return longer
}

// quantile is the duration that a part q of the samples stays within, by the product-limit estimate of Kaplan and Meier
// (Nonparametric Estimation from Incomplete Observations, 1958). Where exactly that part does, it is the middle between
// there and the next one. Where the samples don't reach that far, it is the longest time that is known.
func quantile(seen, open []sample, q float64) time.Duration {
	all := points(seen, open)
	const close = 1e-9 // products of fractions
	longer := 1.0      // the part that takes longer
	for i, p := range all {
		if !p.ended {
			continue
		}
		left := len(all) - i
		longer *= float64(left-1) / float64(left)
		switch {
		case longer > 1-q+close:
		case longer > 1-q-close:
			for _, next := range all[i+1:] {
				if next.ended {
					return p.took + (next.took-p.took)/2
				}
			}
			return p.took
		default:
			return p.took
		}
	}
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].took
}

// times is a duration so many times, as far as a file may say it.
func times(d time.Duration, factor float64) time.Duration {
	return time.Duration(math.Min(float64(d)*factor, float64(spec.MaxDuration)))
}

// rounded keeps three digits or four, and what a file may say: a median of a millisecond at least, and 240 hours at most.
func rounded(d time.Duration) time.Duration {
	step := time.Millisecond
	for d > 1000*step {
		step *= 10
	}
	return min(max(d.Round(step), time.Millisecond), spec.MaxDuration)
}
