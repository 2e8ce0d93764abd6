package flock_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/nodesim/nodesim/internal/localcluster/flock"
)

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := flock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flock.Try(path); !errors.Is(err, flock.ErrHeld) {
		t.Errorf("a second time: found %v, want ErrHeld", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := flock.Wait(ctx, path, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was given up: found %v, want context.Canceled", err)
	}
	again, err := flock.Wait(t.Context(), path, func() {
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
	if _, err := flock.Wait(t.Context(), filepath.Join(t.TempDir(), "none", "lock"), nil); err == nil || errors.Is(err, flock.ErrHeld) {
		t.Errorf("found %v, want that there is no such folder", err)
	}
}

func TestAFileThatMustBeThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if _, err := flock.TryThere(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, want that there is none, and that none is made", err)
	}
	release, err := flock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flock.TryThere(path); !errors.Is(err, flock.ErrHeld) {
		t.Errorf("a second time: found %v, want ErrHeld", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}
