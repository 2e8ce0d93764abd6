//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// TryLock takes the lock of a file, or returns ErrLocked or ErrNoLocks.
func TryLock(path string) (release func() error, err error) {
	return lockFile(path, os.O_CREATE|os.O_RDWR)
}

// TryLockThere is TryLock for a file that is there: it makes none where another program is removing the folder, which would
// stay then.
func TryLockThere(path string) (release func() error, err error) { return lockFile(path, os.O_RDWR) }

func lockFile(path string, how int) (release func() error, err error) {
	file, err := os.OpenFile(path, how, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return file.Close, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = ErrLocked
	default:
		err = fmt.Errorf("%w: %w", ErrNoLocks, err)
	}
	return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
}
