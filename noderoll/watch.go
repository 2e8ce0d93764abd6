package noderoll

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/retry"
)

// WatchOptions say how often Watch looks, and how patient it is.
type WatchOptions struct {
	// Interval is the pause after a good look; 0 means 3 s.
	Interval time.Duration
	// RetryFrom is the pause after a first failure, doubled after each further
	// one, up to RetryTo. 0 means 1 s and 30 s.
	RetryFrom, RetryTo time.Duration
	// MaxStale ends Watch when there has been no good look for so long, counted
	// from its start before the first one; 0 never does. It ends no look that hangs:
	// give the observer's client a timeout.
	MaxStale time.Duration
	// Clock is for the pauses and for Update.Stale; nil means the real one.
	Clock clock.Clock
}

// Update is the result of one poll of Watch.
type Update struct {
	// Snapshot is the latest good one; the zero Snapshot before the first.
	Snapshot Snapshot
	// Err is why this look failed; nil after a good one.
	Err error
	// At is when this look was over.
	At time.Time
	// Stale bounds how old Snapshot is: 0 after a good look. Before the first good
	// one it counts from the start of Watch.
	Stale time.Duration
	// Failures counts the failed looks since the last good one.
	Failures int
}

// Watch polls an observer and hands each look to show, failed ones too, until
// show returns false. A failure is no end: Watch tries again, with growing
// pauses, and tells how stale the picture is. It returns nil when show has had
// enough, ctx's error when ctx ends, and an error that wraps the observer's
// when the picture grew older than MaxStale. It starts no goroutine.
func Watch(ctx context.Context, o Observer, opts WatchOptions, show func(Update) bool) error {
	opts = opts.withDefaults()
	good := opts.Clock.Now()
	var u Update
	for {
		snap, err := o.Snapshot(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		u.At, u.Err = opts.Clock.Now(), err
		pause := opts.Interval
		if err == nil {
			u.Snapshot, u.Failures, u.Stale, good = snap, 0, 0, u.At
		} else {
			u.Failures++
			u.Stale = u.At.Sub(good)
			pause = retry.Doubling{First: opts.RetryFrom, Most: opts.RetryTo}.After(u.Failures)
			if left := opts.MaxStale - u.Stale; left > 0 {
				pause = min(pause, left)
			}
		}
		if !show(u) {
			return nil
		}
		if err != nil && opts.MaxStale > 0 && u.Stale >= opts.MaxStale {
			return fmt.Errorf("watch nodes: nothing new for %s, after %d attempts: %w", u.Stale, u.Failures, err)
		}
		if retry.Pause(ctx, opts.Clock, pause) != nil {
			return ctx.Err()
		}
	}
}

func (o WatchOptions) withDefaults() WatchOptions {
	if o.Interval <= 0 {
		o.Interval = 3 * time.Second
	}
	if o.RetryFrom <= 0 {
		o.RetryFrom = time.Second
	}
	if o.RetryTo <= 0 {
		o.RetryTo = 30 * time.Second
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}
