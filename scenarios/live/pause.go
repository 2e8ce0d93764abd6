package live

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// pause lets a time pass, or the context end.
func pause(ctx context.Context, c clock.Clock, d time.Duration) error {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C():
		return nil
	}
}
