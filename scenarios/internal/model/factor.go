package model

import (
	"math/bits"
	"time"
)

// Factor says how slow one machine is beside its like: 65536 is as fast as the middle, 131072 takes twice as long. Every
// duration of a node is multiplied by the node's factor, so that a slow node is slow everywhere.
type Factor uint32

// Middling is the factor of the machine in the middle.
const Middling Factor = 1 << 16

// nodeFactor is the spread among machines of one type: one of twenty takes more than 1.15 times as long as the one in
// the middle. It is an estimate, no measurement. Its durations are factors: a nanosecond is 1/65536.
var nodeFactor = Lognormal(time.Duration(Middling), time.Duration(Middling)*115/100).
	Clip(time.Duration(Middling)/2, time.Duration(Middling)*4)

// DrawFactor takes the factor of a node; jitter is that of Scaled: 0 gives Middling.
func DrawFactor(s *Stream, jitter int) Factor {
	return Factor(nodeFactor.Scaled(jitter).Draw(s))
}

// Of multiplies d, which may be negative, by f: the machine's own d. It never leaves the range of ten years.
func (f Factor) Of(d time.Duration) time.Duration {
	negative := d < 0
	hi, lo := bits.Mul64(uint64(max(d, -d)), uint64(f))
	out := longest
	if hi < 1<<15 {
		out = min(time.Duration(hi<<48|lo>>16), longest)
	}
	if negative {
		return -out
	}
	return out
}
