package retry_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/retry"
)

func TestDoubling(t *testing.T) {
	d := retry.Doubling{First: 200 * time.Millisecond, Most: 7 * time.Second}
	for failures, want := range map[int]time.Duration{
		0: d.First, 1: d.First, 2: 2 * d.First, 6: 32 * d.First, 7: d.Most, math.MaxInt: d.Most,
	} {
		if got := d.After(failures); got != want {
			t.Errorf("%d failures: %s, want %s", failures, got, want)
		}
	}
	if got := (retry.Doubling{First: time.Minute, Most: time.Second}).After(1); got != time.Second {
		t.Errorf("found %s, want no more than the most", got)
	}
}

// A pause is over when its time is, or the context.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := retry.Pause(t.Context(), clock.RealClock{}, time.Minute); err != nil || time.Since(begun) != time.Minute {
			t.Errorf("%v after %s, want a minute", err, time.Since(begun))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		time.AfterFunc(time.Second, func() { cancel(why) })
		if err := retry.Pause(ctx, clock.RealClock{}, time.Hour); !errors.Is(err, why) {
			t.Errorf("found %v, want why the context ended", err)
		}
	})
}
