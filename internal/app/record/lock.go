package record

import (
	"errors"
	"fmt"

	"github.com/nodesim/nodesim/internal/atomicfile"
)

// Lock keeps other recordings away from a file until release is called: two
// that continue with one tape would write over each other's lines. Readers ask
// for none. A file system that knows no locks does without.
func Lock(name string) (release func() error, err error) {
	release, err = atomicfile.TryLockThere(name)
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return nil, fmt.Errorf("%s: another recording is writing it: want it alone; end that one first, or choose another file", name)
	case errors.Is(err, atomicfile.ErrNoLocks):
		return func() error { return nil }, nil
	}
	return release, err
}
