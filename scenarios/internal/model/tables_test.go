package model

import (
	"math"
	"testing"
)

// The committed tables against the functions that they stand for.
func TestTables(t *testing.T) {
	for i, z := range normalQuantiles {
		got := math.Erfc(float64(z)/(1<<normalBits)/math.Sqrt2) / 2
		want := math.Ldexp(1+float64(i%steps)/steps, -(i/steps + 2))
		// One unit of the table's last digit moves the tail by about z units of 2⁻²⁴.
		if math.Abs(got-want) > want*1e-6 {
			t.Errorf("normalQuantiles[%d] = %d: upper tail %g, want %g", i, z, got, want)
		}
	}
	for i, p := range powersOfTwo {
		got, want := float64(p)/(1<<62), math.Exp2(float64(i)/256)
		if math.Abs(got-want) > 1e-15*4 {
			t.Errorf("powersOfTwo[%d] = %d: %g, want %g", i, p, got, want)
		}
	}
	if got := float64(normalP95) / (1 << normalBits); math.Abs(math.Erfc(got/math.Sqrt2)/2-0.05) > 1e-8 {
		t.Errorf("normalP95 is %g: its upper tail is no twentieth", got)
	}
}

// Between the entries of the tables a straight line must do: z against the true quantile over the whole range of words.
func TestNormalBetweenEntries(t *testing.T) {
	s := NewStream(5, "normal")
	for i := range 20000 {
		word := s.Uint64() >> (i % 40)
		if i%2 == 1 {
			word |= 1 << 63
		}
		z := float64(normal(word)) / (1 << normalBits)
		if (word>>63 == 1) != (z < 0) && z != 0 {
			t.Fatalf("normal(%#x) = %g: the wrong sign", word, z)
		}
		tail := float64(word<<1) / (1 << 32) / (1 << 33)
		if got := math.Erfc(math.Abs(z)/math.Sqrt2) / 2; tail > 1e-11 && math.Abs(got-tail) > tail*0.002 {
			t.Fatalf("normal(%#x) = %g: upper tail %g, want %g", word, z, got, tail)
		}
	}
}

func TestNormalAtItsEnds(t *testing.T) {
	deepest := int64(normalQuantiles[(octaves-1)*steps])
	for word, want := range map[uint64]int64{0: deepest, 1 << 63: -deepest, 1: deepest} {
		if got := normal(word); got != want {
			t.Errorf("normal(%#x) = %d, want %d", word, got, want)
		}
	}
	if got := normal(1<<63 - 1); got < 0 || got > 1 {
		t.Errorf("normal(all but the sign) = %d, want the middle", got)
	}
}

func TestPowers(t *testing.T) {
	for _, x := range []int64{0, 1, 1000, 38e9, int64(longest)} {
		for _, exponent := range []float64{-200, -63.5, -62, -1.25, -1e-9, 0, 0.3, 1, 7.77, 40, 100, 640} {
			got := float64(scaleByPower(x, int64(exponent*(1<<spreadBits))))
			want := min(float64(x)*math.Exp2(exponent), float64(longest))
			if math.Abs(got-want) > 1+want*2e-6 {
				t.Errorf("%d × 2^%g = %g, want %g", x, exponent, got, want)
			}
		}
	}
}

func TestSpreads(t *testing.T) {
	for _, c := range [][2]int64{{1, 2}, {38, 65}, {45e9, 240e9}, {1000, 1001}, {3, 1 << 40}, {1, int64(longest)}, {7, 7}} {
		got := float64(log2Spread(c[0], c[1])) / (1 << spreadBits)
		want := min(math.Log2(float64(c[1])/float64(c[0]))/1.6448536269514722, widest>>spreadBits)
		if math.Abs(got-want) > 1e-7*(1+want) {
			t.Errorf("spread of %d/%d is %g, want %g", c[0], c[1], got, want)
		}
	}
}
