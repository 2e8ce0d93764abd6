package controller

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

// A bench drives one queue under a fake clock: each piece of work says its key and waits for its verdict.
type bench struct {
	t     *testing.T
	clock *clocktesting.FakeClock
	queue *queue
	began chan string
	ends  chan error
}

func newBench(t *testing.T, limiter workqueue.TypedRateLimiter[any], retry ShouldRetryFunc) *bench {
	t.Helper()
	b := &bench{
		t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
		began: make(chan string), ends: make(chan error),
	}
	b.queue = newQueue("bench", b.clock, limiter, retry, func(ctx context.Context, key string) error {
		b.began <- key
		return <-b.ends
	})
	return b
}

// run works until the test ends.
func (b *bench) run(workers int) {
	ctx, cancel := context.WithCancel(b.t.Context())
	var done sync.WaitGroup
	done.Go(func() { b.queue.run(ctx, workers) })
	b.t.Cleanup(func() { cancel(); done.Wait() })
}

// works lets the queue work on one key, to the given end, and returns the key.
func (b *bench) works(err error) string {
	key := <-b.began
	b.ends <- err
	return key
}

// waits moves the clock to the moment at which the queue's head is due: the queue waits for exactly one timer then.
func (b *bench) waits(d time.Duration) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute)
	defer cancel()
	for !b.clock.HasWaiters() {
		if ctx.Err() != nil {
			b.t.Fatal("the queue waits for no time")
		}
		runtime.Gosched()
	}
	b.clock.Step(d)
}

func quick() workqueue.TypedRateLimiter[any] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[any](0, 0)
}

func TestQueueGivesUpAfterExactlyTwentyTries(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	gaveUp := make(chan error, 1)
	b.queue.gaveUp = func(_ context.Context, _ string, err error) { gaveUp <- err }
	b.queue.add("a")
	b.run(3)
	broken := errors.New("broken")
	for range MaxRetries {
		b.works(broken)
	}
	if err := <-gaveUp; !errors.Is(err, broken) || err.Error() != "given up after 20 failures in a row: broken" {
		t.Errorf("given up with %q", err)
	}
	b.queue.add("b")
	if key := b.works(nil); key != "b" {
		t.Errorf("after the last try of a, works on %q: want b", key)
	}
}

func TestQueueForgetsFailuresAfterSuccess(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	b.run(1)
	b.queue.add("a")
	for range 2 * MaxRetries { // never twenty in a row
		b.works(errors.New("broken"))
		b.works(nil)
		b.queue.add("a")
	}
	b.works(nil)
}

func TestQueueBacksOffEachKeyByItself(t *testing.T) {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[any](time.Second, time.Minute)
	b := newBench(t, limiter, DefaultRetryFunc)
	b.run(1)
	b.queue.add("a")
	for _, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		b.works(errors.New("broken"))
		b.queue.add("b") // a first attempt, held back by nobody
		if key := b.works(nil); key != "b" {
			t.Fatalf("works on %q while a waits", key)
		}
		b.waits(wait)
	}
	if key := b.works(nil); key != "a" {
		t.Errorf("works on %q: want a", key)
	}
}

func TestQueueRetriesWhenItsRetryFuncSays(t *testing.T) {
	var tries []int
	retry := func(_ context.Context, _ string, tried int, _ time.Time, _ error) (*time.Duration, error) {
		tries = append(tries, tried)
		wait := time.Hour
		return &wait, nil
	}
	b := newBench(t, quick(), retry)
	b.run(1)
	b.queue.add("a")
	b.works(errors.New("broken"))
	b.waits(time.Hour)
	b.works(nil)
	if !slices.Equal(tries, []int{1}) {
		t.Errorf("asked after failures %v: want [1]", tries)
	}
}

func TestQueueOrdersByDueTime(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	b.queue.addAfter("third", 3*time.Second)
	b.queue.addAfter("first", time.Second)
	b.queue.addAfter("second", 2*time.Second)
	b.queue.addAfter("second too", 2*time.Second)
	b.clock.Step(time.Minute)
	b.run(1)
	var order []string
	for range 4 {
		order = append(order, b.works(nil))
	}
	if want := []string{"first", "second", "second too", "third"}; !slices.Equal(order, want) {
		t.Errorf("order %q: want %q", order, want)
	}
}

func TestQueueMovesOnlyForward(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	b.queue.addAfter("a", time.Hour)
	b.queue.addAfter("b", 2*time.Second)
	b.queue.addAfter("a", time.Second)
	b.queue.addAfter("a", 2*time.Hour)
	b.run(1)
	b.waits(time.Second)
	if key := b.works(nil); key != "a" {
		t.Errorf("works on %q after a second: want a, which was moved forward", key)
	}
	b.waits(time.Second)
	b.works(nil)
	if left := b.settle(); left != 0 {
		t.Errorf("%d keys left: want none", left)
	}
}

// settle waits until nothing is left in the queue and returns what is left then or at the deadline.
func (b *bench) settle() int {
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute)
	defer cancel()
	for b.queue.len() > 0 && ctx.Err() == nil {
		runtime.Gosched()
	}
	return b.queue.len()
}

func TestQueueWorksOnAKeyOnOneWorkerAtATime(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	b.run(4)
	b.queue.add("a")
	<-b.began
	for range 5 {
		b.queue.add("a") // five times, once more
	}
	b.queue.add("b")
	if key := b.works(nil); key != "b" { // ends either of the two that are under way: they are alike
		t.Fatalf("works on %q beside a: want b", key)
	}
	b.ends <- nil
	if key := b.works(nil); key != "a" {
		t.Fatalf("works on %q: want a once more", key)
	}
	if left := b.settle(); left != 0 {
		t.Errorf("%d keys left: want none", left)
	}
}

func TestQueueForgetsWaitingWork(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	b.queue.add("a")
	b.queue.add("b")
	b.queue.forget("a")
	b.queue.forget("never added")
	b.run(1)
	if key := b.works(nil); key != "b" {
		t.Errorf("works on %q: want b", key)
	}
}

func TestQueueForgetsWorkUnderWay(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	b.run(1)
	b.queue.add("a")
	<-b.began
	b.queue.add("a")
	b.queue.forget("a")
	b.ends <- errors.New("broken")
	if left := b.settle(); left != 0 {
		t.Errorf("%d keys left: want none, since a was forgotten", left)
	}
}

func TestQueueRunsForgottenWorkThatIsAddedAgain(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	b.run(1)
	b.queue.add("a")
	<-b.began
	b.queue.forget("a")
	b.queue.add("a")
	b.ends <- errors.New("broken")
	if key := b.works(nil); key != "a" {
		t.Errorf("works on %q: want a", key)
	}
}

func TestQueueWaitsForItsWorkersAtTheEnd(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); b.queue.run(ctx, 2) }()
	b.queue.add("a")
	<-b.began
	cancel()
	select {
	case <-ended:
		t.Error("ended with work under way")
	default:
	}
	b.ends <- nil
	<-ended
}

func TestQueueWithoutWorkersPanics(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	defer func() {
		if recover() == nil {
			t.Error("a queue without workers ran")
		}
	}()
	b.queue.run(t.Context(), 0)
}

func TestQueueHeedsRetryAfter(t *testing.T) {
	b := newBench(t, quick(), DefaultRetryFunc)
	b.run(1)
	b.queue.add("a")
	b.works(apierrors.NewTooManyRequests("busy", 7))
	b.waits(6 * time.Second)
	b.queue.add("b")
	if key := b.works(nil); key != "b" {
		t.Fatalf("works on %q after six seconds: want only b", key)
	}
	b.waits(time.Second)
	if key := b.works(nil); key != "a" {
		t.Errorf("works on %q: want a", key)
	}
}

// len counts the keys that wait or are worked on.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}
