package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/recorder/store"
)

// refusing is a bucket whose writes the system refuses half-way, until it doesn't.
type refusing struct {
	store.Bucket
	with error
}

func (r *refusing) Write(ctx context.Context, key string, from io.Reader) error {
	if r.with != nil {
		from = io.MultiReader(io.LimitReader(from, 10), iotest.ErrReader(r.with))
	}
	return r.Bucket.Write(ctx, key, from)
}

// A folder that has no room, or refuses a tape, says in one line what it wants. The tape waits, and is uploaded when the folder takes it.
func TestAFolderThatTakesNothing(t *testing.T) {
	const room = "want room there: nodesim tapes prune removes old tapes"
	for _, c := range []struct {
		fails syscall.Errno
		wants string
	}{
		{syscall.ENOSPC, room},
		{syscall.EDQUOT, room},
		{syscall.EROFS, "want a volume that is mounted for writing"},
		{syscall.EACCES, "want the right to write there: by chown or chmod, or by the fsGroup of a pod"},
	} {
		from, to := t.TempDir(), t.TempDir()
		x, text := tape("a", 0)
		finish(t, from, x, text)
		s := folder(t, to)
		bucket := &refusing{s.Bucket, &fs.PathError{Op: "write", Path: "file", Err: c.fails}}
		u := store.Uploader{Folder: from, Store: &store.Store{Bucket: bucket, Address: "test"}, Clock: clock.RealClock{}, Keep: store.Keep{Size: 1}}
		want := fmt.Sprintf("store test: tape a-0: write file: %v: %s", c.fails, c.wants)
		if err := u.Once(t.Context()); err == nil || err.Error() != want || !errors.Is(err, c.fails) {
			t.Errorf("%v: found %v, want %s", c.fails, err, want)
		}
		if waiting := u.State().Waiting; waiting != 1 {
			t.Errorf("%v: %d tapes wait, want 1", c.fails, waiting)
		}
		if left, err := store.Finished(from); err != nil || len(left) != 1 {
			t.Errorf("%v: found %d tapes in the folder, %v, want 1", c.fails, len(left), err)
		}
		if err := s.Bucket.List(t.Context(), "", func(key string) error { return fmt.Errorf("found %s", key) }); err != nil {
			t.Errorf("%v: %v in the store, want nothing", c.fails, err)
		}
		bucket.with = nil
		if err := u.Once(t.Context()); err != nil {
			t.Errorf("%v: later: %v", c.fails, err)
		}
		if found := list(t, s, store.Query{}); !slices.Equal(found, []string{x.Name}) {
			t.Errorf("%v: later: found %q in the store, want %s", c.fails, found, x.Name)
		}
		if left, err := os.ReadDir(from); err != nil || len(left) > 0 {
			t.Errorf("%v: later: found %d files in the folder, %v, want none", c.fails, len(left), err)
		}
	}
}

// An error that a library has written on many lines is told of on one.
func TestErrorsHaveOneLine(t *testing.T) {
	x, text := tape("a", 0)
	many := errors.New("put https://test\n-----\nRESPONSE 403: refused\r\n\n  code\n-----")
	s := store.Store{Address: "test", Bucket: fragile{folder(t, t.TempDir()).Bucket, func(string, bool) error { return many }}}
	const want = "store test: tape a-0: put https://test; RESPONSE 403: refused; code"
	if err := s.Put(t.Context(), x, reader(text)); !errors.Is(err, many) || err.Error() != want {
		t.Errorf("found %v, want %s", err, want)
	}
}

// hanging is a bucket that doesn't answer for a tape's objects with an ending, until it does.
type hanging struct {
	store.Bucket
	tape, ending string
	hangs        bool
}

func (h *hanging) wait(ctx context.Context, key string) error {
	if h.hangs && strings.HasPrefix(key, h.tape) && strings.HasSuffix(key, h.ending) {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (h *hanging) Read(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := h.wait(ctx, key); err != nil {
		return nil, err
	}
	return h.Bucket.Read(ctx, key)
}

func (h *hanging) Write(ctx context.Context, key string, from io.Reader) error {
	if err := h.wait(ctx, key); err != nil {
		return err
	}
	return h.Bucket.Write(ctx, key, from)
}

// A store that hangs is given up after a time that the tape's size decides, with an error that says so. Other tapes are uploaded, and this one
// is when the store answers again.
func TestAStoreThatHangs(t *testing.T) {
	for _, c := range []struct {
		ending string
		bytes  int64
		within time.Duration
	}{
		{".json", 100, 2 * time.Minute}, // when it is asked what it has
		{".yaml.zst", 100, 2 * time.Minute},
		{".yaml.zst", 30_000_000, 7 * time.Minute},
	} {
		from, to := t.TempDir(), t.TempDir()
		x, text := tape("a", 0)
		x.Bytes = c.bytes
		finish(t, from, x, text)
		y, other := tape("a", 1)
		finish(t, from, y, other)
		s := folder(t, to)
		synctest.Test(t, func(t *testing.T) {
			bucket := &hanging{Bucket: s.Bucket, tape: x.Key(), ending: c.ending, hangs: true}
			u := store.Uploader{Folder: from, Store: &store.Store{Bucket: bucket, Address: "test"}, Clock: clock.RealClock{}, Keep: store.Keep{Size: 1}}
			want := fmt.Sprintf("store test: tape a-0: context deadline exceeded: found no end of the upload within %v, want 100 kB a second: look at the store and the network; it is tried again", c.within)
			began := time.Now()
			if err := u.Once(t.Context()); err == nil || err.Error() != want {
				t.Errorf("%s: found %v, want %s", c.ending, err, want)
			}
			if took := time.Since(began); took != c.within {
				t.Errorf("%s: it took %v, want %v", c.ending, took, c.within)
			}
			if state := u.State(); state.Waiting != 1 || state.Uploaded != 1 {
				t.Errorf("%s: state %+v, want one that waits and one that is uploaded", c.ending, state)
			}
			if left, err := store.Finished(from); err != nil || len(left) != 1 || left[0].Name != x.Name {
				t.Errorf("%s: found %v in the folder, %v, want %s", c.ending, left, err, x.Name)
			}
			bucket.hangs = false
			if err := u.Once(t.Context()); err != nil {
				t.Errorf("%s: later: %v", c.ending, err)
			}
		})
		if found := list(t, s, store.Query{}); !slices.Equal(found, []string{x.Name, y.Name}) {
			t.Errorf("%s: later: found %q in the store, want both tapes", c.ending, found)
		}
	}
}
