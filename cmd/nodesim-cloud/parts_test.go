package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/recorder/store"
)

// large puts a tape into a folder that the library uploads in parts, which have 5 MiB at least, and returns it with its content.
func large(t *testing.T, folder string) (store.Tape, []byte) {
	t.Helper()
	text := make([]byte, 40<<20+1)
	_, _ = rand.NewChaCha8([32]byte{}).Read(text) // it never fails
	sum := sha256.Sum256(text)
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	x := store.Tape{Name: "large", Cluster: "c1", Group: "workers", Began: began, Ended: began, Outcome: "complete", Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
	for name, content := range map[string][]byte{x.File(): text, x.Description(): x.Text()} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return x, text
}

// then is a reader of nothing that does something.
type then func()

func (do then) Read([]byte) (int, error) {
	do()
	return 0, io.EOF
}

// manyParts uploads a tape in parts. Where the upload is cut in the middle, by the connection or by the end of the recorder, there is no object
// of it, and the next upload brings all of it.
func manyParts(t *testing.T, g *server) {
	folder := t.TempDir()
	x, text := large(t, folder)
	s, err := store.Open(t.Context(), g.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	nothing := func(when string) {
		t.Helper()
		if err := s.Bucket.List(t.Context(), "", func(key string) error { return fmt.Errorf("the store has %s", key) }); err != nil {
			t.Errorf("%s: %v, want nothing there", when, err)
		}
		if left, err := store.Finished(folder); err != nil || len(left) != 1 {
			t.Errorf("%s: found %d tapes in the folder, %v, want the one", when, len(left), err)
		}
	}
	u := &store.Uploader{Folder: folder, Store: s, Keep: store.Keep{Age: 1}, Clock: clock.RealClock{}}
	g.fail(torn)
	if err := u.Once(t.Context()); err == nil || !isLine(err.Error(), s, x, "") {
		t.Fatalf("connections that end within parts: found %v, want an error of one line", err)
	}
	if g.parts.Load() < 2 || g.givenUp.Load() == 0 {
		t.Fatalf("found %d requests with parts, and %d that give the upload up, want some of both", g.parts.Load(), g.givenUp.Load())
	}
	nothing("connections that end within parts")
	g.mend()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	half := len(text) / 2
	err = s.Put(ctx, x, func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(text[:half]), then(cancel), bytes.NewReader(text[half:]))), nil
	})
	if !errors.Is(ctx.Err(), context.Canceled) || err == nil {
		t.Fatalf("an end in the middle: found %v, want an error", err)
	}
	nothing("an end in the middle")
	g.parts.Store(0)
	if err := u.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := g.parts.Load(); n < 3 {
		t.Errorf("found %d requests with parts, want more than two: the test shows nothing", n)
	}
	found, skipped, err := s.List(t.Context(), store.Query{})
	if err != nil || len(skipped) > 0 || len(found) != 1 || found[0].SHA256 != x.SHA256 {
		t.Fatalf("found the tapes %+v, %v, %v, want the one", found, skipped, err)
	}
	var got bytes.Buffer
	if err := s.Get(t.Context(), found[0], &got); err != nil || !bytes.Equal(got.Bytes(), text) {
		t.Errorf("got %d bytes, %v, want the %d that were sent", got.Len(), err, len(text))
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("found %d files in the folder, %v, want none", len(left), err)
	}
}
