package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/recorder/store"
)

// A folder may be named by a link.
func TestLinkToAFolder(t *testing.T) {
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "tapes")
	x, text := tape("a", 0)
	if err := folder(t, dir).Put(t.Context(), x, reader(text)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if got := list(t, folder(t, link), store.Query{}); !slices.Equal(got, []string{x.Name}) {
		t.Errorf("found %q by the link, want %s", got, x.Name)
	}
}

// What is removed while a list is read hides nothing that comes after it.
func TestFolderGoesWhileItIsListed(t *testing.T) {
	dir := t.TempDir()
	s := folder(t, dir)
	for _, key := range []string{"a/1", "b/2", "c/3"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(key)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, key), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err := s.Bucket.List(t.Context(), "", func(key string) error {
		got = append(got, key)
		return os.RemoveAll(filepath.Join(dir, "b"))
	})
	if err != nil || !slices.Equal(got, []string{"a/1", "c/3"}) {
		t.Errorf("found %q, %v, want what is there still", got, err)
	}
}

// A volume that isn't mounted any more takes nothing.
func TestFolderThatIsAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tapes")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := folder(t, dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	x, text := tape("a", 0)
	if err := s.Put(t.Context(), x, reader(text)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, want that the folder isn't there", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

// A tape that one store has is still to be taken to another one.
func TestAnotherStore(t *testing.T) {
	from := t.TempDir()
	x, text := tape("a", 0)
	finish(t, from, x, text)
	for range 2 {
		to := folder(t, t.TempDir())
		u := store.Uploader{Folder: from, Store: to, Clock: clock.RealClock{}}
		for range 2 {
			if err := u.Once(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := list(t, to, store.Query{}); !slices.Equal(got, []string{x.Name}) || u.State().Uploaded != 1 {
			t.Errorf("found %q after %d uploads, want one of %s", got, u.State().Uploaded, x.Name)
		}
	}
}
