package controller

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// queue works on keys: each on one worker at a time, in the order in which they are due, and again with back-off when
// the work fails. What is added while it is worked on runs once more afterwards; what is added twice before that runs
// once, at the earlier of the two times. The work that a queue holds costs memory; a key that is done costs none.
//
// client-go's work queues are not used because a delay can't be taken back there (deleted pods wait out their grace
// period and must be forgotten), an earlier time doesn't replace a later one once it has passed the limiter, and their
// delays run by a clock but without order.
type queue struct {
	name    string // in errors and at a shared limiter
	clock   clock.WithTicker
	limiter workqueue.TypedRateLimiter[any]
	retry   ShouldRetryFunc
	work    func(ctx context.Context, key string) error
	gaveUp  func(ctx context.Context, key string, err error) // told of a key that retry gives up; may be nil

	wake chan struct{} // capacity 1: the head of waiting may have changed

	mu      sync.Mutex
	items   map[string]*queueItem
	waiting queueHeap
	added   uint64
}

// queueItem is a key with work to do: waiting, or being worked on.
type queueItem struct {
	key   string
	added time.Time // when the work was asked for first
	due   time.Time
	order uint64 // of equal due times, what came first goes first
	tries int    // failures in a row
	index int    // in the heap; -1 while it is worked on

	again     bool // added while it was worked on, due at againAt
	againAt   time.Time
	forgotten bool // while it was worked on
}

func newQueue(name string, clock clock.WithTicker, limiter workqueue.TypedRateLimiter[any], retry ShouldRetryFunc,
	work func(context.Context, string) error,
) *queue {
	return &queue{
		name: name, clock: clock, limiter: limiter, retry: retry, work: work,
		wake: make(chan struct{}, 1), items: map[string]*queueItem{},
	}
}

// add asks for the work on key as soon as a worker is free. It never waits, and no limiter holds it back.
func (q *queue) add(key string) { q.addAfter(key, 0) }

// addAfter asks for the work on key after the delay. An earlier time replaces a later one, never the reverse.
func (q *queue) addAfter(key string, delay time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	due := now.Add(max(delay, 0))
	item := q.items[key]
	switch {
	case item == nil:
		item = &queueItem{key: key, added: now, index: -1}
		q.items[key] = item
		q.push(item, due)
	case item.index < 0:
		if !item.again || due.Before(item.againAt) {
			item.again, item.againAt = true, due
		}
	case due.Before(item.due):
		item.due = due
		heap.Fix(&q.waiting, item.index)
		q.nudge()
	}
}

// forget drops key: waiting work isn't done, and work under way isn't repeated if it fails. Its failures are forgotten.
func (q *queue) forget(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limiter.Forget(limited(q.name, key))
	item := q.items[key]
	switch {
	case item == nil:
	case item.index < 0:
		item.again, item.forgotten = false, true
	default:
		heap.Remove(&q.waiting, item.index)
		delete(q.items, key)
	}
}

// run works until the context ends, on at most workers keys at once, and returns when the last of them is finished. It
// panics if workers is not positive.
func (q *queue) run(ctx context.Context, workers int) {
	if workers <= 0 {
		panic(fmt.Sprintf("virtualnode: queue of %s: %d workers: want at least 1", q.name, workers))
	}
	free := make(chan struct{}, workers)
	var working sync.WaitGroup
	defer working.Wait()
	for {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		item := q.next(ctx)
		if item == nil {
			return
		}
		working.Go(func() {
			defer func() { <-free }()
			q.finish(ctx, item, q.work(ctx, item.key))
		})
	}
}

// next waits for the first key that is due and takes it; nil when the context has ended.
func (q *queue) next(ctx context.Context) *queueItem {
	for ctx.Err() == nil {
		item, due := q.take()
		if item != nil {
			return item
		}
		var rings <-chan time.Time
		stop := func() {}
		if !due.IsZero() {
			timer := q.clock.NewTimer(due.Sub(q.clock.Now()))
			rings, stop = timer.C(), func() { timer.Stop() }
			if !q.clock.Now().Before(due) { // the clock moved on before the timer was set
				stop()
				continue
			}
		}
		select {
		case <-ctx.Done():
		case <-q.wake:
		case <-rings:
		}
		stop()
	}
	return nil
}

// take removes the head if it is due; otherwise it says when it will be, or the zero time if nothing waits.
func (q *queue) take() (*queueItem, time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil, time.Time{}
	}
	if head := q.waiting[0]; q.clock.Now().Before(head.due) {
		return nil, head.due
	}
	item := heap.Pop(&q.waiting).(*queueItem)
	item.index = -1
	return item, time.Time{}
}

// finish decides what becomes of a key after its work.
func (q *queue) finish(ctx context.Context, item *queueItem, err error) {
	var delay time.Duration
	if err != nil {
		item.tries++ // the worker's own until the item waits again
		var abandoned error
		if delay, abandoned = q.delay(ctx, item, err); abandoned != nil {
			err = nil
			if q.gaveUp != nil {
				q.gaveUp(ctx, item.key, abandoned)
			}
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	failed := err != nil && !item.forgotten
	if !failed {
		q.limiter.Forget(limited(q.name, item.key))
		item.tries = 0
		if !item.again {
			delete(q.items, item.key)
			return
		}
		item.added = now
	}
	due := item.againAt
	if retry := now.Add(delay); failed && (!item.again || retry.Before(due)) {
		due = retry
	}
	item.again, item.forgotten = false, false
	q.push(item, due)
}

// push puts an item among the waiting; the lock is held.
func (q *queue) push(item *queueItem, due time.Time) {
	q.added++
	item.due, item.order = due, q.added
	heap.Push(&q.waiting, item)
	q.nudge()
}

// nudge makes next look at the head again.
func (q *queue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// queueHeap orders items by the time at which they are due, then by the order in which they came.
type queueHeap []*queueItem

func (h queueHeap) Len() int { return len(h) }
func (h queueHeap) Less(i, j int) bool {
	if h[i].due.Equal(h[j].due) {
		return h[i].order < h[j].order
	}
	return h[i].due.Before(h[j].due)
}
func (h queueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *queueHeap) Push(x any) {
	item := x.(*queueItem)
	item.index = len(*h)
	*h = append(*h, item)
}
func (h *queueHeap) Pop() any {
	last := len(*h) - 1
	item := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return item
}

// MaxRetries is the number of times in a row that a pod may fail in one queue under [DefaultRetryFunc] before the
// queue gives it up. A pod that was given up is tried again at the controller's next look at all pods, and at once
// when it changes.
const MaxRetries = 20

// ShouldRetryFunc decides after a failure whether the work is tried again: an error gives it up, a duration tries again
// after that time, neither leaves the delay to the queue's limiter. timesTried counts the failures in a row, from 1;
// originallyAdded is when the work was asked for first. The key is namespace/name, with /UID in the queues of statuses
// and deletions.
type ShouldRetryFunc func(ctx context.Context, key string, timesTried int, originallyAdded time.Time, err error) (*time.Duration, error)

// DefaultRetryFunc leaves the delay to the limiter and gives up at the [MaxRetries]th failure in a row.
func DefaultRetryFunc(_ context.Context, _ string, timesTried int, _ time.Time, err error) (*time.Duration, error) {
	if timesTried < MaxRetries {
		return nil, nil
	}
	return nil, fmt.Errorf("given up after %d failures in a row: %w", timesTried, err)
}

// NewPodRateLimiter is the limiter of a queue that is given none: a pod's failures in a row wait 5 ms, 10 ms, 20 ms, …
// up to 1000 s, and all failures of the queue together pass at 100 a second after a burst of 1000, ten times what
// client-go's default controller limiter lets pass, since one queue serves many nodes here.
func NewPodRateLimiter() workqueue.TypedRateLimiter[any] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[any](5*time.Millisecond, 1000*time.Second),
		&workqueue.TypedBucketRateLimiter[any]{Limiter: rate.NewLimiter(100, 1000)},
	)
}

// limited is the key of a piece of work at a limiter, which may be shared by several queues: a text, as limiters of one's own expect.
func limited(queue, key string) string { return queue + ": " + key }

// delay returns how long the work waits after its failure, the API server's own Retry-After included; an error says
// that it is given up.
func (q *queue) delay(ctx context.Context, item *queueItem, cause error) (time.Duration, error) {
	own, err := q.retry(ctx, item.key, item.tries, item.added, cause)
	if err != nil {
		return 0, err
	}
	if own != nil {
		return max(*own, 0), nil
	}
	delay := max(q.limiter.When(limited(q.name, item.key)), 0)
	if seconds, ok := apierrors.SuggestsClientDelay(cause); ok {
		delay = max(delay, time.Duration(seconds)*time.Second)
	}
	return delay, nil
}
