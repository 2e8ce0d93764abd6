package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/recorder/store"
)

// finish puts a tape into a folder, as a recorder does that has finished it.
func finish(t *testing.T, dir string, x store.Tape, text []byte) {
	t.Helper()
	for name, content := range map[string][]byte{x.File(): text, x.Description(): x.Text()} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fragile is a bucket that fails as it is told to: before it takes a byte, or half-way.
type fragile struct {
	store.Bucket
	fail func(key string, half bool) error
}

func (f fragile) Write(ctx context.Context, key string, from io.Reader) error {
	if err := f.fail(key, false); err != nil {
		return err
	}
	if err := f.fail(key, true); err != nil {
		_, _ = io.CopyN(io.Discard, from, 10)
		return err
	}
	return f.Bucket.Write(ctx, key, from)
}

// A store that is away at any write, and a process that ends at any, lose nothing: in the end each tape is there once and whole.
func TestUploadsGoOnAfterAnyFailure(t *testing.T) {
	for at := range 12 {
		for _, half := range []bool{false, true} {
			from, to := t.TempDir(), t.TempDir()
			var want []string
			for hours := range 3 {
				x, text := tape("a", hours)
				finish(t, from, x, text)
				want = append(want, x.Name)
			}
			n := 0
			broken := fragile{folder(t, to).Bucket, func(_ string, now bool) error {
				if now != half {
					return nil
				}
				if n++; n == at || n == at+1 {
					return errors.New("the store is away")
				}
				return nil
			}}
			failed := 0
			for try := 0; ; try++ { // each of another process
				u := store.Uploader{Folder: from, Store: &store.Store{Bucket: broken, Address: "test"}, Clock: clock.RealClock{}, Keep: store.Keep{Age: time.Nanosecond}}
				err := u.Once(t.Context())
				if s := u.State(); (err == nil) != (s.Waiting == 0) || s.Failures > 0 && err == nil {
					t.Errorf("failure at write %d: state %+v, %v", at, s, err)
				}
				if err == nil {
					break
				}
				if failed++; try > 5 {
					t.Fatalf("failure at write %d: %v after %d tries", at, err, try)
				}
			}
			if n >= at && at > 0 && failed == 0 {
				t.Errorf("failure at write %d: nothing failed", at)
			}
			s := folder(t, to)
			if found := list(t, s, store.Query{}); !slices.Equal(found, want) {
				t.Errorf("failure at write %d: found %q, want %q", at, found, want)
			}
			for hours := range 3 {
				x, text := tape("a", hours)
				var got bytes.Buffer
				if err := s.Get(t.Context(), x, &got); err != nil || !bytes.Equal(got.Bytes(), text) {
					t.Errorf("failure at write %d: %s: %v", at, x.Name, err)
				}
			}
			if left, err := os.ReadDir(from); err != nil || len(left) > 0 {
				t.Errorf("failure at write %d: %d files are left in the folder, %v: want none: the store has them", at, len(left), err)
			}
		}
	}
}

// Tapes that the store doesn't have stay, whatever the folder's bounds are.
func TestNothingGoesBeforeItIsInTheStore(t *testing.T) {
	dir := t.TempDir()
	x, text := tape("a", 0)
	finish(t, dir, x, text)
	if err := os.WriteFile(filepath.Join(dir, "torn.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	away := fragile{folder(t, t.TempDir()).Bucket, func(string, bool) error { return errors.New("the store is away") }}
	u := store.Uploader{Folder: dir, Store: &store.Store{Bucket: away, Address: "test"}, Clock: clock.RealClock{}, Keep: store.Keep{Age: 1, Size: 1}}
	if err := u.Once(t.Context()); err == nil || !strings.Contains(err.Error(), "torn.json") || !strings.Contains(err.Error(), "away") {
		t.Errorf("found %v, want the store and the torn description told of", err)
	}
	if s := u.State(); s.Waiting != 1 || s.Failures != 2 || !s.Oldest.Equal(x.Ended) {
		t.Errorf("state %+v, want one that waits, and failures of it and of the torn one", s)
	}
	if all, err := store.Finished(dir); len(all) != 1 || err == nil {
		t.Errorf("found %v, %v, want the tape still there", all, err)
	}
}

// An upload that is under way when the uploader is to end goes on, and then it ends.
func TestTheLastUploadGoesOn(t *testing.T) {
	dir := t.TempDir()
	x, text := tape("a", 0)
	finish(t, dir, x, text)
	began, goOn := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(began) })
	slow := fragile{folder(t, t.TempDir()).Bucket, func(string, bool) error {
		once()
		<-goOn
		return nil
	}}
	u := store.Uploader{
		Folder: dir, Store: &store.Store{Bucket: slow, Address: "test"}, Clock: clock.RealClock{}, Failed: func(err error) { t.Error(err) },
	}
	told := make(chan struct{})
	var owned sync.WaitGroup
	owned.Go(func() { u.Run(t.Context(), told, time.Hour) })
	<-began
	close(told)
	close(goOn)
	owned.Wait()
	if s := u.State(); s.Uploaded != 1 || s.Waiting != 0 {
		t.Errorf("state %+v, want the one tape uploaded", s)
	}
}

// Without a store the last tape of each group stays, as long as all of them are within the folder's size; the newest stays in any case.
func TestLastTapesAreBounded(t *testing.T) {
	for size, want := range map[int64]string{1000: "a-1 b-2 c-3", 250: "b-2 c-3", 1: "c-3"} {
		dir := t.TempDir()
		for i, group := range []string{"a", "a", "b", "c"} {
			x, text := tape(group, i)
			x.Bytes = 100
			finish(t, dir, x, text)
		}
		u := store.Uploader{Folder: dir, Clock: clock.RealClock{}, Keep: store.Keep{Size: size, Age: time.Nanosecond}}
		if err := u.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		var left []string
		all, err := store.Finished(dir)
		for _, x := range all {
			left = append(left, x.Name)
		}
		if got := strings.Join(left, " "); err != nil || got != want {
			t.Errorf("%d bytes: left %q, %v, want %q", size, got, err, want)
		}
	}
}
