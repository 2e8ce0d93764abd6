package testcluster

import (
	"context"
	"fmt"
	"time"
)

// poll calls done at once and then at every tick until it returns true or an error, or the context ends. The error
// says what was waited for.
func poll(ctx context.Context, every time.Duration, what string, done func(context.Context) (bool, error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		ok, err := done(ctx)
		if err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
