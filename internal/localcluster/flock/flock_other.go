//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package flock

import "os"

// Try takes the lock, which is had at once.
func Try(string) (release func() error, err error) { return func() error { return nil }, nil }

// TryThere is Try for a file that is there.
func TryThere(path string) (release func() error, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return Try(path)
}
