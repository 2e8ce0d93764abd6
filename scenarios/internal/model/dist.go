package model

import (
	"math/bits"
	"time"
)

// longest bounds every duration of a Dist: ten years of 365 days. What would exceed it is cut to it.
const longest = 10 * 365 * 24 * time.Hour

// Dist says how long something takes: one of a few shapes, drawn with integers alone, so that a seed gives the same
// durations on every processor. The logarithms that a lognormal needs come from tables (normal.go, exp2.go), whose
// error is far below the error of the measurements that the figures come from: a median or a 95th percentile is met
// within 0.01 %.
//
// A Dist is a value; the zero Dist is always 0. Dists compare with ==. Durations are from 0 to ten years.
type Dist struct {
	shape shape
	// Fixed: the duration. Uniform: both ends. Triangular: least, likeliest, most. Lognormal: the median, the deviation of
	// the binary logarithm as a fixed-point number (see spreadBits), and the 95th percentile.
	a, b, c int64
	// clipped says whether lo and hi hold.
	clipped bool
	lo, hi  int64
}

type shape uint8

const (
	fixed shape = iota
	uniform
	triangular
	lognormal
)

// Fixed always takes d.
func Fixed(d time.Duration) Dist {
	return Dist{shape: fixed, a: bounded(d)}
}

// Uniform takes anything from a to b, each as likely as the next. The ends may come in either order.
func Uniform(a, b time.Duration) Dist {
	x, y := bounded(a), bounded(b)
	return Dist{shape: uniform, a: min(x, y), b: max(x, y)}
}

// Triangular takes from least to most, and around mode most often. A mode outside is taken as the nearer end.
func Triangular(least, mode, most time.Duration) Dist {
	x, y := bounded(least), bounded(most)
	x, y = min(x, y), max(x, y)
	return Dist{shape: triangular, a: x, b: min(max(bounded(mode), x), y), c: y}
}

// Lognormal takes median in the middle case and more than p95 in one of twenty, with a long tail: the shape of things
// that wait for other things. A p95 below the median is taken as the median; a median of 0 makes it always 0. It has no
// upper end but ten years: clip what has one.
func Lognormal(median, p95 time.Duration) Dist {
	m := bounded(median)
	high := max(bounded(p95), m)
	if m == 0 {
		high = 0
	}
	return Dist{shape: lognormal, a: m, b: log2Spread(m, high), c: high}
}

// Clip keeps d within least and most: what would lie outside takes the bound itself. A later Clip replaces it.
func (d Dist) Clip(least, most time.Duration) Dist {
	x, y := bounded(least), bounded(most)
	d.clipped, d.lo, d.hi = true, min(x, y), max(x, y)
	return d
}

// Draw takes one duration from s: one draw of the stream or more, always as many for the same state.
func (d Dist) Draw(s *Stream) time.Duration {
	return time.Duration(d.clip(d.draw(s)))
}

func (d Dist) draw(s *Stream) int64 {
	switch d.shape {
	case uniform:
		return d.a + int64(s.N(uint64(d.b-d.a)+1))
	case triangular:
		return d.drawTriangular(s)
	case lognormal:
		return scaleByPower(d.a, spreadTimes(normal(s.Uint64()), d.b))
	}
	return d.a
}

// drawTriangular needs no root: of two uniform numbers the greater one has the density of a rising slope. A first number
// says on which side of the mode it falls.
func (d Dist) drawTriangular(s *Stream) int64 {
	if d.a == d.c {
		return d.a
	}
	rising := int64(s.N(uint64(d.c-d.a))) < d.b-d.a
	word := s.Uint64()
	u := max(word>>32, word&(1<<32-1))
	if rising {
		return d.a + mulShift32(d.b-d.a, u)
	}
	return d.c - mulShift32(d.c-d.b, u)
}

// Median is the duration that half of the draws stay below.
func (d Dist) Median() time.Duration {
	return time.Duration(d.clip(d.median()))
}

func (d Dist) median() int64 {
	switch d.shape {
	case uniform:
		return d.a + (d.b-d.a)/2
	case triangular:
		if width := d.c - d.a; d.b-d.a >= width/2 {
			return d.a + rootOfHalfProduct(width, d.b-d.a)
		}
		return d.c - rootOfHalfProduct(d.c-d.a, d.c-d.b)
	}
	return d.a
}

// Scaled keeps the median and changes how far the draws scatter around it: 0 leaves the median alone, 100 changes
// nothing, 200 doubles the distance of every draw from the median (for a lognormal: the distance of its logarithm). No
// draw falls below 0. Below 0 counts as 0, above 1000 as 1000.
func (d Dist) Scaled(percentOfSpread int) Dist {
	p := int64(min(max(percentOfSpread, 0), 1000))
	if p == 100 {
		return d
	}
	middle := d.median()
	if p == 0 {
		// The middle of a triangle is a root, rounded down; a fixed duration says it as it is.
		return Dist{shape: fixed, a: middle, clipped: d.clipped, lo: d.lo, hi: d.hi}
	}
	from := func(x int64) int64 {
		return min(max(middle+scaleByHundredth(x-middle, p), 0), int64(longest))
	}
	switch d.shape {
	case uniform:
		d.a, d.b = from(d.a), from(d.b)
	case triangular:
		d.a, d.b, d.c = from(d.a), from(d.b), from(d.c)
	case lognormal:
		d.b = min(scaleByHundredth(d.b, p), widest)
		d.c = scaleByPower(d.a, spreadTimes(normalP95, d.b))
	}
	return d
}

func (d Dist) clip(x int64) int64 {
	if !d.clipped {
		return x
	}
	return min(max(x, d.lo), d.hi)
}

// bounded cuts a duration to those that a Dist holds.
func bounded(d time.Duration) int64 {
	return int64(min(max(d, 0), longest))
}

// mulShift32 is x × u ÷ 2³² without overflow, for x ≥ 0.
func mulShift32(x int64, u uint64) int64 {
	hi, lo := bits.Mul64(uint64(x), u)
	return int64(hi<<32 | lo>>32)
}

// scaleByHundredth is x × p ÷ 100, towards zero, without overflow for |x| up to ten years and p up to 1000.
func scaleByHundredth(x, p int64) int64 {
	return x/100*p + x%100*p/100
}

// rootOfHalfProduct is √(x × y ÷ 2), rounded down, for x and y from 0 to ten years.
func rootOfHalfProduct(x, y int64) int64 {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	lo = lo>>1 | hi<<63
	hi >>= 1
	var root uint64
	for bit := uint64(1) << 62; bit != 0; bit >>= 1 {
		try := root | bit
		if h, l := bits.Mul64(try, try); h < hi || h == hi && l <= lo {
			root = try
		}
	}
	return int64(root)
}
