package model

import "math/bits"

// Lognormal durations without floating point. A draw is median × 2^(spread × z) with z from the standard normal
// distribution. All of it is fixed point: z has normalBits binary digits after the point, the spread and the exponent
// have spreadBits.
const (
	normalBits = 24
	spreadBits = 32
	// widest bounds the spread: the 95th percentile 2^32 times the median.
	widest = 20 << spreadBits
	// normalP95 is the normal distribution's 95th percentile, 1.6448536…, with normalBits digits.
	normalP95 = 27596065
	// octaves and steps are the shape of normalQuantiles, see normal.
	octaves = 40
	steps   = 1 << stepBits
	// stepBits digits choose a step in an octave, the next 32 the place in the step.
	stepBits = 5
)

// normal turns 64 random bits into a number of the standard normal distribution. The first bit is its sign, the other 63
// are the probability of its tail: as many zeros as they start with, that many octaves down the tail; the digits after
// the first one say where in the octave. The table holds the quantile at each of 32 steps of an octave, and a straight
// line between two of them is off by less than 0.0004.
func normal(word uint64) int64 {
	tail := word << 1
	octave := bits.LeadingZeros64(tail)
	if octave >= octaves {
		octave, tail = octaves-1, 1<<(64-octaves)
	}
	digits := tail << octave << 1
	step := digits >> (64 - stepBits)
	place := int64(digits << stepBits >> 32)
	at := octave*steps + int(step)
	z, next := int64(normalQuantiles[at]), int64(normalQuantiles[at+1])
	if step == steps-1 {
		// The end of an octave is where the one above began.
		next = 0
		if octave > 0 {
			next = int64(normalQuantiles[(octave-1)*steps])
		}
	}
	z += (next - z) * place >> 32
	if word>>63 == 1 {
		return -z
	}
	return z
}

// spreadTimes is the exponent of two of a draw: z × spread.
func spreadTimes(z, spread int64) int64 {
	hi, lo := bits.Mul64(uint64(max(z, -z)), uint64(spread))
	out := int64(hi<<(64-normalBits) | lo>>normalBits)
	if z < 0 {
		return -out
	}
	return out
}

// log2Spread is the spread that puts the 95th percentile at p95: log₂(p95 ÷ median) ÷ 1.6448536.
func log2Spread(median, p95 int64) int64 {
	if median <= 0 || p95 <= median {
		return 0
	}
	// log₂ digit by digit: a number in [1, 2) is squared; where that reaches 2 the digit is 1, and it is halved. The
	// number has 62 digits after the point.
	up := bits.LeadingZeros64(uint64(median)) - bits.LeadingZeros64(uint64(p95))
	x, y := uint64(p95), uint64(median)
	if up > 0 {
		y <<= up
	}
	if x < y {
		up--
		x <<= 1
	}
	number, _ := bits.Div64(x>>2, x<<62, y)
	logarithm := int64(up)
	for range spreadBits {
		hi, lo := bits.Mul64(number, number)
		number = hi<<2 | lo>>62
		logarithm <<= 1
		if number >= 1<<63 {
			number >>= 1
			logarithm |= 1
		}
	}
	hi, lo := bits.Mul64(uint64(logarithm), 1<<normalBits)
	spread, _ := bits.Div64(hi, lo, normalP95)
	return min(int64(spread), widest)
}

// scaleByPower is x × 2^exponent, cut to ten years. The table has 2^(i/256); a straight line between two entries is off
// by less than a millionth.
func scaleByPower(x, exponent int64) int64 {
	whole := exponent >> spreadBits // towards minus infinity, so the rest is never negative
	rest := uint64(exponent - whole<<spreadBits)
	at := rest >> (spreadBits - 8)
	place := rest & (1<<(spreadBits-8) - 1)
	low, high := powersOfTwo[at], powersOfTwo[at+1]
	power := low + (high-low)>>(spreadBits-8)*place // 62 digits after the point
	if whole > 62 {
		return min(x, 1) * int64(longest)
	}
	hi, lo := bits.Mul64(uint64(x), power)
	// hi:lo has 62 digits after the point; whole of them less are wanted.
	down := 62 - whole
	switch {
	case down >= 128:
		return 0
	case down >= 64:
		return int64(hi >> (down - 64))
	case hi>>down != 0 || hi<<(64-down)|lo>>down > uint64(longest):
		return int64(longest)
	}
	return int64(hi<<(64-down) | lo>>down)
}
