package atomicfile

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
