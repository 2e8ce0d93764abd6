// Package filelock takes locks of files, by which programs keep out of each other's way.
//
// In: the path of a file. Out: what gives its lock up again. Locks are advisory, as flock(2) has them, and end with the
// program that holds them, however that ends; where there is no such thing, each is had at once. It never reads or writes
// what is in the file.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLocked is returned by TryLock where another program holds the lock, or this one does already.
var ErrLocked = errors.New("locked by another program")

// ErrNoLocks is returned where the file is there, and its file system has no locks.
var ErrNoLocks = errors.New("no locks in this file system")

// Lock takes the lock of a file when it can be had. The file is made where there is none, and never removed. waiting is
// called once, if the lock can't be had at once; it may be nil.
func Lock(ctx context.Context, path string, waiting func()) (release func() error, err error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		release, err := TryLock(path)
		if !errors.Is(err, ErrLocked) {
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
