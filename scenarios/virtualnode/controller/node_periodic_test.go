package controller

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// Kicks during a call lead to one call after it, and calls never meet.
func TestRhythmKicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls, inside atomic.Int32
		r := newPeriodicTask(t.Context(), clock.RealClock{}, func(context.Context) time.Duration {
			if inside.Add(1) > 1 {
				t.Error("two calls at once")
			}
			<-time.After(time.Second)
			inside.Add(-1)
			calls.Add(1)
			return time.Hour
		})
		r.trigger() // before the start it makes the first call come at once
		r.start(time.Hour)
		r.start(0) // a second start is none
		for range 10 {
			r.trigger()
		}
		pass(3 * time.Second)
		if got := calls.Load(); got != 2 {
			t.Errorf("found %d calls, want 2", got)
		}
		r.trigger()
		pass(time.Second)
		pass(time.Hour)
		pass(time.Second)
		if got := calls.Load(); got != 4 {
			t.Errorf("found %d calls, want one for the kick and one an hour later", got)
		}
		r.trigger()
		idle := r.stop()
		select {
		case <-idle:
			t.Error("idle during a call")
		default:
		}
		<-idle
		r.trigger()
		r.start(0)
		<-r.stop()
		if got := calls.Load(); got != 5 {
			t.Errorf("found %d calls after the end, want none", got)
		}
	})
}

// A context that ends makes an end of it without stop, and stop of what has ended waits for nothing.
func TestRhythmEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var calls atomic.Int32
		r := newPeriodicTask(ctx, clock.RealClock{}, func(context.Context) time.Duration { calls.Add(1); return time.Second })
		r.start(0)
		pass(2500 * time.Millisecond)
		cancel()
		r.trigger()
		pass(time.Hour)
		<-r.stop()
		if got := calls.Load(); got != 3 {
			t.Errorf("found %d calls, want 3", got)
		}
	})
}

// The clock that is given rules: nothing happens until it moves.
func TestRhythmByFakeClock(t *testing.T) {
	ctx := patient(t)
	c := clocktesting.NewFakeClock(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC))
	calls := make(chan time.Time, 10)
	r := newPeriodicTask(ctx, c, func(context.Context) time.Duration { calls <- c.Now(); return time.Minute })
	r.start(time.Minute)
	for range 3 {
		for !c.HasWaiters() {
			if ctx.Err() != nil {
				t.Fatal("no timer on the clock")
			}
		}
		c.Step(time.Minute)
		select {
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		case <-calls:
		}
	}
	<-r.stop()
}
