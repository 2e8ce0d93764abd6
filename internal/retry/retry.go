// Package retry holds what every loop that tries again needs: how long to wait, and the
// wait itself.
package retry

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// Doubling is a pause that doubles with each failure in a row.
type Doubling struct{ First, Most time.Duration }

// After returns the pause after so many failures in a row; 1 is the first.
func (d Doubling) After(failures int) time.Duration {
	pause := d.First
	for ; failures > 1 && pause < d.Most; failures-- {
		pause *= 2
	}
	return min(pause, d.Most)
}

// Pause lets a time pass, or the context end, whose cause it then returns.
func Pause(ctx context.Context, c clock.Clock, d time.Duration) error {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C():
		return nil
	}
}
