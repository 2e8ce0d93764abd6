package daemon_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// putAway exchanges the folders of a store for files, so that nothing can be read or written there, and reports whether there are any. They are
// in FOLDER.away meanwhile. An exchange is one step: an uploader that makes missing folders never finds one missing.
func putAway(folder string) (some bool, err error) {
	if err := os.MkdirAll(folder+".away", 0o700); err != nil {
		return false, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		file := filepath.Join(folder+".away", e.Name())
		if err := errors.Join(os.WriteFile(file, nil, 0o600), exchange(file, filepath.Join(folder, e.Name()))); err != nil {
			return false, err
		}
		some = true
	}
	return some, nil
}

// bringBack undoes putAway.
func bringBack(folder string) error {
	entries, err := os.ReadDir(folder + ".away")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		away := filepath.Join(folder+".away", e.Name())
		err = errors.Join(err, exchange(away, filepath.Join(folder, e.Name())), os.Remove(away))
	}
	return err
}

// exchange gives each of two files the other one's name, in one step.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// A store goes away and comes back whatever an uploader does meanwhile, and what is in it stays.
func TestStoreGoesAwayAndComesBack(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	cluster := filepath.Join(folder, "cluster")
	kept := filepath.Join(cluster, "2026", "kept")
	if err := errors.Join(os.MkdirAll(filepath.Dir(kept), 0o700), os.WriteFile(kept, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var uploader sync.WaitGroup
	uploader.Go(func() {
		for {
			select {
			case <-stop:
				return
			default: // it fails while the store is away
				_ = os.MkdirAll(filepath.Join(cluster, "2026", "11"), 0o700)
				_ = os.WriteFile(filepath.Join(cluster, "2026", "11", "tape"), nil, 0o600)
			}
		}
	})
	defer uploader.Wait()
	defer close(stop)
	for range 1000 {
		if some, err := putAway(folder); err != nil || !some {
			t.Fatalf("found %t, %v, want the store away", some, err)
		}
		if info, err := os.Stat(cluster); err != nil || info.IsDir() {
			t.Fatalf("found a folder, or %v, want a file in its place", err)
		}
		if err := bringBack(folder); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder + ".away"); err != nil || len(left) > 0 {
		t.Errorf("found %v, %v, want nothing left away", left, err)
	}
}
