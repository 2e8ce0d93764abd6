package filelock_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/nodesim/nodesim/internal/filelock"
)

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := filelock.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.TryLock(path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("a second time: found %v, want ErrLocked", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := filelock.Lock(ctx, path, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was given up: found %v, want context.Canceled", err)
	}
	again, err := filelock.Lock(t.Context(), path, func() {
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
	if _, err := filelock.Lock(t.Context(), filepath.Join(t.TempDir(), "none", "lock"), nil); err == nil || errors.Is(err, filelock.ErrLocked) {
		t.Errorf("found %v, want that there is no such folder", err)
	}
}

func TestAFileThatMustBeThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if _, err := filelock.TryLockThere(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, want that there is none, and that none is made", err)
	}
	release, err := filelock.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.TryLockThere(path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("a second time: found %v, want ErrLocked", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}
