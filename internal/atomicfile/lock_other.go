//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package atomicfile

import "os"

// TryLock takes the lock of a file, which is had at once.
func TryLock(string) (release func() error, err error) { return func() error { return nil }, nil }

// TryLockThere is TryLock for a file that is there.
func TryLockThere(path string) (release func() error, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return TryLock(path)
}
