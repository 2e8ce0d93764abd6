package controller

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
)

// MaxRetries is the number of times in a row that a pod may fail in one queue under [DefaultRetryFunc] before the
// queue gives it up. A pod that was given up is tried anew at the controller's next look at all pods, and at once
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

// limited is the key of a piece of work at a limiter, which may be shared by several queues.
type limited struct{ queue, key string }

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
	delay := max(q.limiter.When(limited{q.name, item.key}), 0)
	if seconds, ok := apierrors.SuggestsClientDelay(cause); ok {
		delay = max(delay, time.Duration(seconds)*time.Second)
	}
	return delay, nil
}
