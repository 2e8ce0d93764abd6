package liverun

import "testing"

func TestGarbagePercent(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 100}, {48 * mb, 100}, {49 * mb, 75}, {64 * mb, 75}, {65 * mb, 50}, {96 * mb, 50}, {97 * mb, 25}, {1 << 60, 25}} {
		var pace gcPace
		if got := pace.percent(c.live, 1); got != c.want {
			t.Errorf("%d bytes live: found %d percent, want %d", c.live, got, c.want)
		}
	}
}

// Much that lives and little that happens: a tenth, until much happens.
func TestGarbageOfQuietLiveRuns(t *testing.T) {
	const much = 150 << 20
	var pace gcPace
	for i, step := range []struct {
		cycles uint64
		want   int
	}{{9, 25}, {14, 25}, {14, 25}, {15, 25}, {15, 25}, {15, 10}, {16, 10}, {18, 10}, {21, 25}, {22, 25}, {22, 25}, {22, 10}} {
		if got := pace.percent(much, step.cycles); got != step.want {
			t.Errorf("look %d, after %d collections: found %d percent, want %d", i, step.cycles, got, step.want)
		}
	}
	if got := pace.percent(10<<20, 22); got != 100 {
		t.Errorf("little that lives: found %d percent, want 100", got)
	}
}
