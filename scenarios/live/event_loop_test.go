package live

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

// What is handed in is done in order, and what the scenario has to do is done in
// its time.
func TestEventLoopMakesCallsInOrderAndStepsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newEventLoop(clock.RealClock{})
		var did []string
		begin := time.Now()
		for _, word := range []string{"a", "b", "c"} {
			s.post(func() { did = append(did, word) })
		}
		steps := 0
		err := s.run(t.Context(), func() (time.Duration, bool, error) {
			steps++
			if steps == 3 {
				did = append(did, time.Since(begin).String())
			}
			return 5 * time.Second, steps == 3, nil
		})
		if want := []string{"a", "b", "c", "5s"}; err != nil || !slices.Equal(did, want) {
			t.Errorf("did %v, error %v: want %v", did, err, want)
		}
	})
}

// A call returns when it was made, or with the end of the event loop.
func TestEventLoopCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newEventLoop(clock.RealClock{})
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		done := make(chan error, 1)
		go func() { done <- s.run(ctx, func() (time.Duration, bool, error) { return time.Hour, false, nil }) }()
		made := false
		if err := s.call(t.Context(), func() { made = true }); err != nil || !made {
			t.Errorf("call: made %t, error %v", made, err)
		}
		cancel(enough)
		if err := <-done; !errors.Is(err, enough) {
			t.Errorf("run ends with %v, want %v", err, enough)
		}
		s.post(func() { made = false })
		s.close()
		if made {
			t.Error("what was handed in before the end wasn't done")
		}
		if err := s.call(t.Context(), func() {}); !errors.Is(err, errOver) {
			t.Errorf("call behind the end: error %v, want %v", err, errOver)
		}
	})
}
