package atomicfile_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/nodesim/nodesim/internal/atomicfile"
)

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := atomicfile.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := atomicfile.TryLock(path); !errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("a second time: found %v, want ErrLocked", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := atomicfile.Lock(ctx, path, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was given up: found %v, want context.Canceled", err)
	}
	again, err := atomicfile.Lock(t.Context(), path, func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}

func TestNoFolderNoLock(t *testing.T) {
	if _, err := atomicfile.Lock(t.Context(), filepath.Join(t.TempDir(), "none", "lock"), nil); err == nil || errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("found %v, want that there is no such folder", err)
	}
}

func TestAFileThatMustBeThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if _, err := atomicfile.TryLockThere(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, want that there is none, and that none is made", err)
	}
	release, err := atomicfile.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := atomicfile.TryLockThere(path); !errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("a second time: found %v, want ErrLocked", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}
