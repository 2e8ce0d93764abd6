package controller

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A Ping that hangs fails after its timeout and is not called a second time, whether or not it obeys its context.
func TestHungPing(t *testing.T) {
	for name, obeys := range map[string]bool{"obeys its context": true, "ignores its context": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				release := make(chan struct{})
				var calls atomic.Int32
				f.pings(func(ctx context.Context) error {
					if calls.Add(1); obeys {
						<-ctx.Done()
						return ctx.Err()
					}
					<-release
					return nil
				})
				c := f.controller(t, readyNode(), WithNodePingTimeout(100*time.Millisecond))
				begun := time.Now()
				go func() { _ = c.Run(t.Context()) }()
				pass(101 * time.Millisecond)
				if calls := calls.Load(); calls > 2 || !obeys && calls != 1 {
					t.Errorf("found %d calls of Ping, want one at a time", calls)
				}
				close(release)
				<-c.Done()
				if err := c.Err(); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "virtual") {
					t.Errorf("Run: %v, want DeadlineExceeded", err)
				}
				if took := time.Since(begun); took > 500*time.Millisecond {
					t.Errorf("Run gave up after %s", took)
				}
				if f.node() != nil {
					t.Error("a node was written for a provider that doesn't answer")
				}
			})
		})
	}
}

// While pings fail nothing is written and the lease expires; when they succeed again the lease is renewed at once.
func TestIllProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		running(t.Context(), t, f.controller(t, readyNode(), f.leases()))
		pass(time.Second)
		f.pings(func(context.Context) error { return errors.New("no answer") })
		pass(DefaultPingInterval)
		f.forget()
		f.say(t, readyNode())
		pass(5 * time.Minute)
		if f.requests("PUT leases/virtual")+f.requests("PATCH nodes/virtual/status") > 0 {
			t.Errorf("written for a provider that doesn't answer: %v", f.log)
		}
		f.pings(func(context.Context) error { return nil })
		pass(DefaultPingInterval)
		if age := time.Since(f.lease().Spec.RenewTime.Time); age > 5*time.Second {
			t.Errorf("the lease was renewed %s ago, want at the first good ping", age)
		}
		if f.requests("PATCH nodes/virtual/status") != 1 {
			t.Errorf("found %v, want the status written at the first good ping", f.log)
		}
	})
}

// A ping that began to hang has the node fall silent; its last good answer isn't believed for ever.
func TestPingHangsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		running(t.Context(), t, f.controller(t, readyNode(), f.leases()))
		pass(time.Second)
		f.pings(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		pass(DefaultPingInterval + DefaultPingTimeout)
		f.forget()
		pass(time.Minute)
		if got := f.requests("PUT leases/virtual"); got > 0 {
			t.Errorf("found %d renewals while the provider hangs, want 0", got)
		}
	})
}

// An answer from before a jump of the clock isn't believed either: the next one is awaited.
func TestOldAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		c := f.controller(t, readyNode())
		running(t.Context(), t, c)
		synctest.Wait()
		var calls atomic.Int32
		f.pings(func(context.Context) error { calls.Add(1); return errors.New("gone meanwhile") })
		c.pinger.mu.Lock()
		c.pinger.last.start = time.Now().Add(-time.Hour)
		c.pinger.mu.Unlock()
		if err := c.pinger.health(t.Context()); err == nil || calls.Load() != 1 {
			t.Errorf("health: %v after %d pings, want the answer of one new ping", err, calls.Load())
		}
	})
}

// Pings keep their pace, whatever the provider pushes.
func TestPaceOfPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var pings list[time.Time]
		f.pings(func(context.Context) error { pings.add(time.Now()); return nil })
		const interval = 10 * time.Millisecond
		running(t.Context(), t, f.controller(t, readyNode(), WithNodePingInterval(interval)))
		pass(25 * time.Millisecond)
		f.say(t, readyNode())
		pass(25 * time.Millisecond)
		times := pings.all()
		if len(times) < 5 {
			t.Fatalf("found %d pings in 50 ms, want one each 10 ms", len(times))
		}
		for i := range times[1:] {
			if gap := times[i+1].Sub(times[i]); gap > interval*5/2 {
				t.Errorf("found %s between two pings, want %s", gap, interval)
			}
		}
	})
}

// By an option the node says itself that it isn't ready, and when that began and ended.
func TestNotReadyOnPingFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		running(t.Context(), t, f.controller(t, readyNode(), f.leases(), WithNodeNotReadyOnPingFailure(),
			WithNodeStatusReportInterval(5*time.Minute)))
		pass(time.Second)
		f.pings(func(context.Context) error { return errors.New("out of order") })
		pass(DefaultPingInterval)
		renewals := f.requests("PUT leases/virtual")
		c := conditionOf(f.node(), corev1.NodeReady)
		if c.Status != corev1.ConditionFalse || c.Reason != "KubeletNotReady" || !strings.Contains(c.Message, "out of order") {
			t.Fatalf("found %+v, want False with the reason of the ping", c)
		}
		if age := time.Since(c.LastTransitionTime.Time); age > 5*time.Second {
			t.Errorf("turned %s ago, want at the failed ping", age)
		}
		pass(time.Minute)
		if got := f.requests("PUT leases/virtual"); got != renewals {
			t.Errorf("found %d renewals while pings fail, want none", got-renewals)
		}
		f.pings(func(context.Context) error { return nil })
		pass(DefaultPingInterval)
		c = conditionOf(f.node(), corev1.NodeReady)
		if c.Status != corev1.ConditionTrue || c.Reason != "KubeletReady" || c.Message != "" || time.Since(c.LastTransitionTime.Time) > 5*time.Second {
			t.Errorf("found %+v, want the provider's condition, turned at the good ping", c)
		}
	})
}
