package calibrate

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/spec"
)

func of(seconds ...float64) (all []sample) {
	for _, s := range seconds {
		all = append(all, sample{took: time.Duration(s * float64(time.Second))})
	}
	return all
}

func same(n int, seconds float64) (all []sample) {
	for range n {
		all = append(all, of(seconds)...)
	}
	return all
}

// The example of Kaplan and Meier (section 1 of their paper): ends at 0.8, 3.1, 5.4 and 9.2 months, losses at 1.0, 2.7, 7.0 and
// 12.1. What survives is 0.875, 0.7, 0.525 and 0.2625.
func TestQuantileOfUnfinishedSamples(t *testing.T) {
	seen, open := of(9.2, 0.8, 5.4, 3.1), of(12.1, 1.0, 7.0, 2.7)
	for _, c := range []struct {
		q, want float64
	}{{0.1, 0.8}, {0.125, 1.95}, {0.2, 3.1}, {0.3, 4.25}, {0.4, 5.4}, {0.5, 9.2}, {0.73, 9.2}, {0.95, 12.1}} {
		if got := quantile(seen, open, c.q); got.Seconds() != c.want {
			t.Errorf("quantile %g is %s, want %gs", c.q, got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		name       string
		seen, open []sample
		q          float64
		want       time.Duration
	}{
		{"none", nil, nil, 0.5, 0},
		{"one", of(3), nil, 0.95, 3 * time.Second},
		{"the middle of two", of(3, 5), nil, 0.5, 4 * time.Second},
		{"the middle of three", of(9, 3, 5), nil, 0.5, 5 * time.Second},
		{"what ends when another one is given up ended first", of(4), of(4), 0.4, 4 * time.Second},
		{"beyond the samples", of(3), of(60, 60, 60), 0.95, time.Minute},
	} {
		if got := quantile(c.seen, c.open, c.q); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestWhatIsMadeOfSamples(t *testing.T) {
	const sec = time.Second
	usual := Quantiles{10 * sec, 20 * sec}
	for _, c := range []struct {
		name   string
		s      samples
		counts int
		apart  int
		takes  Quantiles
	}{
		{"one: in the middle between it and the estimate", samples{seen: of(4)}, 1, 0, Quantiles{7 * sec, 14 * sec}},
		{"two outvote the estimate", samples{seen: of(4, 6)}, 2, 0, Quantiles{6 * sec, 12 * sec}},
		{"few and slow: as wide as the estimate", samples{seen: of(40, 40, 40)}, 3, 0, Quantiles{40 * sec, 80 * sec}},
		{"some: as wide as the estimate", samples{seen: same(5, 4)}, 5, 0, Quantiles{4 * sec, 8 * sec}},
		{"some and wide", samples{seen: append(same(5, 4), of(18)...)}, 6, 0, Quantiles{4 * sec, 18 * sec}},
		{"many: theirs", samples{seen: same(20, 4)}, 20, 0, Quantiles{4 * sec, 4 * sec}},
		{"a time of another kind", samples{seen: append(same(20, 4), of(32, 31.9)...)}, 21, 1, Quantiles{4 * sec, 4 * sec}},
		{"one that never ended", samples{seen: same(20, 4), open: of(900)}, 20, 1, Quantiles{4 * sec, 4 * sec}},
		{"what hadn't ended", samples{seen: same(20, 4), open: same(20, 6)}, 20, 0, Quantiles{4 * sec, 6 * sec}},
		{"at once", samples{seen: same(20, 0)}, 20, 0, Quantiles{time.Millisecond, time.Millisecond}},
		{"three digits", samples{seen: same(20, 41.23456)}, 20, 0, Quantiles{41200 * time.Millisecond, 41200 * time.Millisecond}},
	} {
		f := c.s.fitted(usual, time.Millisecond)
		if f.takes != c.takes || len(f.used) != c.counts || len(f.apart) != c.apart {
			t.Errorf("%s: %s of %d samples, %d far out: want %s of %d, %d", c.name, f.takes, len(f.used), len(f.apart), c.takes, c.counts, c.apart)
		}
	}
}

// Where a fifth had not ended after the longest time that is known, a fifth of what a simulation draws takes longer. Where half had not, the
// samples say too little.
func TestP95BeyondTheSamples(t *testing.T) {
	usual := Quantiles{10 * time.Second, 20 * time.Second}
	fifth := samples{seen: same(16, 4), open: same(4, 30)}
	f := fifth.fitted(usual, time.Millisecond)
	spread := math.Log(f.takes.spread()) / normal95
	longer := math.Erfc(math.Log(30/f.takes.Median.Seconds())/spread/math.Sqrt2) / 2
	if !f.beyond || !f.extrapolated || math.Abs(longer-0.2) > 0.01 {
		t.Errorf("%s: %.1f %% take more than 30s, want 20 %% (beyond %t, extrapolated %t)", f.takes, 100*longer, f.beyond, f.extrapolated)
	}
	half := samples{seen: same(20, 4), open: same(20, 6)}
	if f = half.fitted(usual, time.Millisecond); !f.beyond || f.extrapolated {
		t.Errorf("half of them: beyond %t, extrapolated %t, want the longest time that is known", f.beyond, f.extrapolated)
	}
	whole := samples{seen: same(20, 4), open: same(1, 3)}
	if f = whole.fitted(usual, time.Millisecond); f.beyond || f.extrapolated {
		t.Errorf("all of them: beyond %t, extrapolated %t, want neither", f.beyond, f.extrapolated)
	}
	for want, m := range map[string]Measured{
		"less than 95 % had ended: the p95 is extrapolated":              {Samples: 20, Beyond: true, extrapolated: true},
		"less than 95 % had ended: the p95 is the longest that is known": {Samples: 20, Beyond: true},
	} {
		if got := m.remarks(); !slices.Equal(got, []string{want}) {
			t.Errorf("found the remarks %q, want %q", got, want)
		}
	}
}

// A file may not say that a roller looks more than ten times a second.
func TestShortestTiming(t *testing.T) {
	s := samples{seen: of(0.004, 0.004, 0.004, 0.004, 0.005)}
	least := spec.Shortest("rollerPoll")
	if got, want := s.fitted(Quantiles{least, least}, least).takes, (Quantiles{100 * time.Millisecond, 100 * time.Millisecond}); got != want {
		t.Errorf("a roller that looks all the time takes %s, want %s", got, want)
	}
}
