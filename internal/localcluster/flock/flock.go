// Package flock takes the lock of a file, which ends with the program that holds it, however that ends.
//
// In: a path; the file is made where there is none, and never removed. Out: a function that gives the lock back. Locks
// are advisory, as flock(2) has them; where there is no such thing, each is had at once.
package flock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrHeld is returned by Try where another program holds the lock, or this one does already.
var ErrHeld = errors.New("locked by another program")

// Wait takes the lock when it can be had. waiting is called once, if it can't be had at once; it may be nil.
func Wait(ctx context.Context, path string, waiting func()) (release func() error, err error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		release, err := Try(path)
		if !errors.Is(err, ErrHeld) {
			return release, err
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
