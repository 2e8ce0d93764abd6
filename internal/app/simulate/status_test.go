package simulate

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// look follows a simulation that makes a minute of tape, and a thousand events, a second.
func look(t *testing.T, s *Status, length time.Duration) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	s.follow(ctx, func() (time.Duration, int64, int64) {
		wall := time.Since(began)
		return 60 * wall, 1000 * int64(wall/time.Second), 700_000 * int64(wall/time.Second)
	})
}

func TestPipedStatusIsSparse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		look(t, &Status{Out: &out}, 65*time.Second)
		want := `simulating T+30m00.000s: 30000 events, 21.0 MB, 60x
simulating T+1h00m00.000s: 60000 events, 42.0 MB, 60x
`
		if out.String() != want {
			t.Errorf("got\n%s\nwant\n%s", out.String(), want)
		}
	})
}

func TestStatusOnATerminalIsRepaintedAndTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		look(t, &Status{Out: &out, Width: func() int { return 40 }}, 1200*time.Millisecond)
		const clear = "\r\x1b[K"
		want := clear + "simulating T+30.000s: 0 events, 0 B, 6…" + clear + "simulating T+1m00.000s: 1000 events, 7…" + clear
		if out.String() != want {
			t.Errorf("got\n%q\nwant\n%q", out.String(), want)
		}
	})
}

// What is done at once shows no line, and there may be no terminal to show it on.
func TestStatusOfWhatIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		look(t, &Status{Out: &out, Width: func() int { return 40 }}, 300*time.Millisecond)
		look(t, nil, time.Hour)
		if out.String() != "" {
			t.Errorf("got %q, want nothing", out.String())
		}
	})
}
