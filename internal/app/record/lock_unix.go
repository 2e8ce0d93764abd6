//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package record

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Lock keeps other recordings away from a file until release is called: two
// that continue with one tape would write over each other's lines. It is advisory,
// as flock(2) has it, and ends with the process, however that ends. Readers ask
// for none. A file system that knows no locks does without.
func Lock(name string) (release func() error, err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(fmt.Errorf("%s: another recording is writing it: want it alone; end that one first, or choose another file", name), f.Close())
	}
	return f.Close, nil
}
