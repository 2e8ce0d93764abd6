package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/recorder/store"
)

// fault is what the server does instead of its work.
type fault int32

const (
	none fault = iota
	away
	forbidden
	full
	half // the connection ends within the body
)

// server is an S3 server on loopback with a bucket, which fails as it is told to, and the URL of a store in it.
func server(t *testing.T) (address string, fails *atomic.Int32) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("tapes"); err != nil {
		t.Fatal(err)
	}
	works := gofakes3.New(backend).Server()
	fails = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch fault(fails.Load()) {
		case away:
			panic(http.ErrAbortHandler)
		case half:
			_, _ = io.CopyN(io.Discard, r.Body, 10)
			panic(http.ErrAbortHandler)
		case forbidden:
			http.Error(w, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>", http.StatusForbidden)
		case full:
			http.Error(w, "<Error><Code>QuotaExceeded</Code><Message>full</Message></Error>", http.StatusInsufficientStorage)
		default:
			works.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_MAX_ATTEMPTS", "1") // the uploader tries again
	return "s3://tapes?region=eu-central-1&use_path_style=true&endpoint=" + s.URL, fails
}

func finished(t *testing.T, folder string, n int) (all []store.Tape) {
	t.Helper()
	for i := range n {
		text := bytes.Repeat([]byte(fmt.Sprint("tape", i)), 1000)
		sum := sha256.Sum256(text)
		began := time.Date(2026, 11, 27, i, 0, 0, 0, time.UTC)
		x := store.Tape{Name: fmt.Sprint("tape-", i), Cluster: "c1", Group: "workers", Began: began, Ended: began, Outcome: "complete", Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
		for name, content := range map[string][]byte{x.File(): text, x.Description(): x.Text()} {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, x)
	}
	return all
}

// Whatever the S3 server does meanwhile, each tape is there in the end, once and whole, and none leaves the folder before.
func TestS3(t *testing.T) {
	store.Register("s3", open)
	for what, f := range map[string]fault{"away": away, "without rights": forbidden, "full": full, "cut off": half} {
		t.Run(what, func(t *testing.T) {
			address, fails := server(t)
			folder := t.TempDir()
			tapes := finished(t, folder, 3)
			s, err := store.Open(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			u := &store.Uploader{Folder: folder, Store: s, Keep: store.Keep{Age: 1}, Clock: clock.RealClock{}}
			fails.Store(int32(f))
			if err := u.Once(t.Context()); err == nil || u.State().Waiting != 3 {
				t.Errorf("found %v, %+v, want all to wait", err, u.State())
			}
			if left, err := store.Finished(folder); err != nil || len(left) != 3 {
				t.Errorf("found %d tapes in the folder, %v, want 3", len(left), err)
			}
			fails.Store(int32(none))
			if err := u.Once(t.Context()); err != nil {
				t.Fatal(err)
			}
			found, skipped, err := s.List(t.Context(), store.Query{Cluster: "c1"})
			if err != nil || len(skipped) > 0 || len(found) != 3 {
				t.Fatalf("found %d tapes, %v, %v", len(found), skipped, err)
			}
			for _, x := range tapes {
				if err := s.Get(t.Context(), x, io.Discard); err != nil {
					t.Error(err)
				}
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("found %d files in the folder, %v, want none", len(left), err)
			}
			if err := s.Delete(t.Context(), tapes[0]); err != nil {
				t.Error(err)
			}
			if found, _, err := s.List(t.Context(), store.Query{}); err != nil || len(found) != 2 {
				t.Errorf("found %d tapes after one was removed, %v", len(found), err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := s.Put(ctx, tapes[0], func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }); err == nil {
				t.Error("found no error of an upload that was ended")
			}
		})
	}
}
