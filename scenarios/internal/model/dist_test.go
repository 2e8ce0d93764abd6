package model

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

const draws = 100_000

func sorted(d Dist, seed uint64) []time.Duration {
	s := NewStream(seed, "dist")
	out := make([]time.Duration, draws)
	for i := range out {
		out[i] = d.Draw(&s)
	}
	slices.Sort(out)
	return out
}

func near(got, want time.Duration, perMille int64) bool {
	return max(got-want, want-got) <= want*time.Duration(perMille)/1000
}

// The median and the 95th percentile land where they were asked for.
func TestLognormalLandsOnItsFigures(t *testing.T) {
	for _, c := range [][2]time.Duration{
		{38 * time.Second, 65 * time.Second},
		{45 * time.Second, 240 * time.Second},
		{2 * time.Second, 12 * time.Second},
		{12 * time.Second, 25 * time.Second},
		{time.Duration(Middling), time.Duration(Middling) * 115 / 100},
	} {
		for seed := range uint64(3) {
			got := sorted(Lognormal(c[0], c[1]), seed)
			if !near(got[draws/2], c[0], 10) {
				t.Errorf("lognormal(%s, %s): median %s", c[0], c[1], got[draws/2])
			}
			if !near(got[draws*95/100], c[1], 20) {
				t.Errorf("lognormal(%s, %s): 95th percentile %s", c[0], c[1], got[draws*95/100])
			}
		}
	}
}

func TestUniformAndTriangular(t *testing.T) {
	u := sorted(Uniform(15*time.Second, time.Minute), 1)
	if u[0] < 15*time.Second || u[draws-1] > time.Minute || !near(u[draws/4], 26250*time.Millisecond, 10) || !near(u[draws/2], 37500*time.Millisecond, 10) {
		t.Errorf("uniform(15s, 1m): least %s, quarter %s, median %s, most %s", u[0], u[draws/4], u[draws/2], u[draws-1])
	}
	const sec = time.Second
	for _, c := range [][3]time.Duration{{1 * sec, 4 * sec, 6 * sec}, {0, 0, 10 * sec}, {0, 10 * sec, 10 * sec}, {3 * sec, 3 * sec, 3 * sec}, {5 * sec, 1 * sec, 9 * sec}} {
		d := Triangular(c[0], c[1], c[2])
		got := sorted(d, 1)
		if got[0] < c[0] || got[draws-1] > c[2] || !near(got[draws/2], d.Median(), 10) {
			t.Errorf("%s: least %s, median %s for %s, most %s", d, got[0], got[draws/2], d.Median(), got[draws-1])
		}
	}
}

// Jitter 0 leaves the medians, 50 half of the way to every draw, and the clip holds for all.
func TestScaled(t *testing.T) {
	for _, d := range []Dist{
		Fixed(time.Minute), Uniform(15*time.Second, time.Minute), Triangular(time.Second, 4*time.Second, 6*time.Second),
		Lognormal(45*time.Second, 240*time.Second), Lognormal(45*time.Second, 240*time.Second).Clip(50*time.Second, 15*time.Minute),
	} {
		whole, half, s := sorted(d, 1), sorted(d.Scaled(50), 1), NewStream(9)
		for range 100 {
			if got := d.Scaled(0).Draw(&s); got != d.Median() {
				t.Fatalf("%s without jitter: %s, want its median %s", d, got, d.Median())
			}
		}
		if d.Scaled(100) != d {
			t.Errorf("%s with all of its jitter became %s", d, d.Scaled(100))
		}
		if !near(half[draws/2], whole[draws/2], 10) {
			t.Errorf("%s with half of its jitter: median %s, want %s", d, half[draws/2], whole[draws/2])
		}
		for _, at := range []int{draws / 20, draws / 4, draws * 3 / 4, draws * 19 / 20} {
			inner, outer := half[at]-d.Median(), whole[at]-d.Median()
			if d != Fixed(time.Minute) && outer != 0 && (inner < 0) != (outer < 0) || max(inner, -inner) > max(outer, -outer) {
				t.Errorf("%s: quantile %d is %s away from the median with half of its jitter and %s with all", d, at, inner, outer)
			}
		}
	}
}

func TestNoDistLeavesTenYears(t *testing.T) {
	s := NewStream(1)
	for _, d := range []Dist{
		{}, Fixed(-time.Hour), Uniform(time.Minute, -time.Minute), Triangular(1<<63-1, -1<<63, 5), Lognormal(1<<63-1, 1<<63-1), Lognormal(0, 7),
		Lognormal(1, longest), Lognormal(longest, 1), Lognormal(1, longest).Scaled(1<<31 - 1), Uniform(0, 1<<63-1).Scaled(5000), Fixed(3).Clip(9, 7),
		Triangular(0, longest, longest).Scaled(-4),
	} {
		for range 2000 {
			if got := d.Draw(&s); got < 0 || got > longest {
				t.Fatalf("%s drew %s", d, got)
			}
			if f, took := Factor(s.Uint64()), d.Draw(&s); f.Of(took) < 0 || f.Of(took) > longest {
				t.Fatalf("%s by %d took %s", d, f, f.Of(took))
			}
		}
	}
}

func TestASlowNodeIsSlow(t *testing.T) {
	d, a := Lognormal(38*time.Second, 65*time.Second), NewStream(1, "n")
	for range 1000 {
		plain := d.Draw(&a)
		if slow := (Middling * 3 / 2).Of(plain); !near(slow, plain*3/2, 1) {
			t.Fatalf("a node of factor 1.5 took %s where the middling one takes %s", slow, plain)
		}
	}
	var above int
	for i := range uint64(10000) {
		s := NewStreamAt(1, i, "factor")
		if DrawFactor(&s, 0) != Middling {
			t.Fatal("without jitter a node is not in the middle")
		}
		if DrawFactor(&s, 100) > Middling*115/100 {
			above++
		}
	}
	if above < 400 || above > 600 {
		t.Errorf("%d of 10000 nodes are slower than 1.15, want a twentieth", above)
	}
}

func ExampleDist() {
	boot := Lognormal(38*time.Second, 65*time.Second)
	s := NewStream(7, "cloud", "us-east-1a")
	for range 3 {
		fmt.Println(boot.Draw(&s).Round(time.Millisecond))
	}
	fmt.Println("without jitter:", boot.Scaled(0).Draw(&s))
	// Output:
	// 58.399s
	// 28.173s
	// 1m3.744s
	// without jitter: 38s
}

// These draws are the same on every processor and in every release; a changed line changes every simulation.
func TestDrawsArePinned(t *testing.T) {
	s := NewStream(42, "pinned")
	for _, c := range []struct {
		dist Dist
		want [4]time.Duration
	}{
		{Fixed(time.Minute), [4]time.Duration{60000000000, 60000000000, 60000000000, 60000000000}},
		{Uniform(15*time.Second, time.Minute), [4]time.Duration{47193375598, 32671417463, 51195837736, 39657232256}},
		{Triangular(time.Second, 4*time.Second, 6*time.Second), [4]time.Duration{3840159882, 1604510520, 3425105873, 4181328688}},
		{Lognormal(38*time.Second, 65*time.Second), [4]time.Duration{42574294795, 62684217776, 46762091112, 40539286511}},
		{Lognormal(45*time.Second, 240*time.Second).Scaled(50), [4]time.Duration{70503440856, 79068233380, 22445046577, 40173183590}},
	} {
		var got [4]time.Duration
		for i := range got {
			got[i] = c.dist.Draw(&s)
		}
		if got != c.want {
			t.Errorf("%s drew %d, want %d", c.dist, got, c.want)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, c := range []struct {
		name string
		dist Dist
	}{
		{"uniform", Uniform(15*time.Second, time.Minute)},
		{"triangular", Triangular(time.Second, 4*time.Second, 6*time.Second)},
		{"lognormal", Lognormal(38*time.Second, 65*time.Second)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := NewStream(1)
			b.ReportAllocs()
			for b.Loop() {
				c.dist.Draw(&s)
			}
		})
	}
}
