package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/recorder/store"
)

// fault is what the server does instead of its work.
type fault int32

const (
	none fault = iota
	away
	forbidden
	skewed     // the server has another time
	unwritable // reads are answered, writes are refused
	full       // reads are answered, writes find no room, as MinIO says it
	overQuota  // the same, as Ceph says it
	half       // the connection ends within the body
	torn       // and so it does within each part of an object but the first
	killed     // the server is killed, and started again later
)

// gatewayOf builds a server of S3, which keeps buckets in a folder: https://github.com/versity/versitygw.
func gatewayOf(t *testing.T) (program string) {
	t.Helper()
	folder := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "install", "github.com/versity/versitygw/cmd/versitygw@v1.8.0")
	build.Env = append(os.Environ(), "GOBIN="+folder, "CGO_ENABLED=0")
	build.Dir = folder
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return filepath.Join(folder, "versitygw")
}

// server is an S3 server in a process of its own with a bucket, and a proxy in front of it on loopback, which fails as it is told to.
type server struct {
	t               *testing.T
	program, folder string
	process         *exec.Cmd
	url             string // of a store in the bucket
	fails           atomic.Int32
	parts, givenUp  atomic.Int32 // requests that bring a part of an object, and those that end an upload of parts
}

const accessKey, secretKey = "test", "test-secret"

func newServer(t *testing.T, program string) *server {
	t.Helper()
	folder, err := os.MkdirTemp("", "s3") // short: the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"buckets/tapes", "attributes"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g := &server{t: t, program: program, folder: folder}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { // the host is signed, so it stays
			r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Host
		},
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", g.socket())
		}},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	refuse := func(w http.ResponseWriter, status int, code string) {
		http.Error(w, "<Error><Code>"+code+"</Code><Message>refused</Message></Error>", status)
	}
	writes := func(w http.ResponseWriter, r *http.Request, status int, code string) { // only they are refused
		if r.Method == http.MethodPut {
			refuse(w, status, code)
			return
		}
		proxy.ServeHTTP(w, r)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part := r.URL.Query().Get("partNumber")
		switch {
		case part != "":
			g.parts.Add(1)
		case r.Method == http.MethodDelete && r.URL.Query().Has("uploadId"):
			g.givenUp.Add(1)
		}
		switch fault(g.fails.Load()) {
		case torn:
			if part != "" && part != "1" {
				_, _ = io.CopyN(io.Discard, r.Body, 1000)
				panic(http.ErrAbortHandler)
			}
			proxy.ServeHTTP(w, r)
		case away:
			panic(http.ErrAbortHandler)
		case half:
			_, _ = io.CopyN(io.Discard, r.Body, 10)
			panic(http.ErrAbortHandler)
		case forbidden:
			w.Header().Set("X-Amz-Request-Id", "7301") // gocloud.dev takes an error with the digits 301 for a bucket that isn't there
			refuse(w, http.StatusForbidden, "AccessDenied")
		case skewed:
			refuse(w, http.StatusForbidden, "RequestTimeTooSkewed")
		case unwritable:
			writes(w, r, http.StatusForbidden, "AccessDenied")
		case full:
			writes(w, r, http.StatusInsufficientStorage, "XMinioStorageFull")
		case overQuota:
			writes(w, r, http.StatusForbidden, "QuotaExceeded")
		case none, killed:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	g.url = "s3://tapes?region=us-east-1&use_path_style=true&endpoint=" + s.URL
	g.start()
	t.Cleanup(g.kill)
	return g
}

func (g *server) socket() string { return filepath.Join(g.folder, "socket") }

// start returns once the server takes connections.
func (g *server) start() {
	g.t.Helper()
	if err := os.Remove(g.socket()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.t.Fatal(err)
	}
	g.process = exec.Command(g.program, "--port", g.socket(), "--region", "us-east-1", "--quiet",
		"posix", "--sidecar", filepath.Join(g.folder, "attributes"), filepath.Join(g.folder, "buckets"))
	g.process.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
	var said bytes.Buffer
	g.process.Stdout, g.process.Stderr = &said, &said
	if err := g.process.Start(); err != nil {
		g.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func(p *exec.Cmd) { ended <- p.Wait() }(g.process)
	for {
		c, err := net.Dial("unix", g.socket())
		if err == nil {
			if err := c.Close(); err != nil {
				g.t.Error(err)
			}
			return
		}
		select {
		case err := <-ended:
			g.t.Fatalf("the S3 server has ended: %v\n%s", err, &said)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// fail has the server fail so until it is mended.
func (g *server) fail(f fault) {
	g.fails.Store(int32(f))
	if f == killed {
		g.kill()
	}
}

// mend has the server work again.
func (g *server) mend() {
	if fault(g.fails.Swap(int32(none))) == killed {
		g.start()
	}
}

// kill ends the server at once.
func (g *server) kill() {
	if err := g.process.Process.Kill(); err != nil {
		g.t.Error(err)
	}
}

// finished puts tapes of the hours from a to b into a folder.
func finished(t *testing.T, folder string, a, b int) (all []store.Tape) {
	t.Helper()
	for i := a; i < b; i++ {
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

// outage is a fault, and what errors say meanwhile.
type outage struct {
	fails fault
	wants string // how each line ends
	lists bool   // whether tapes can be listed
}

// Whatever the S3 server does meanwhile, each tape is there in the end, once and whole, and none leaves the folder before. The errors have one
// line for each tape, which says what is wanted where the server has said what is wrong.
func TestS3(t *testing.T) {
	store.Register("s3", open)
	program := gatewayOf(t)
	const room = ": want room in the bucket or a larger quota: nodesim tapes prune removes old tapes"
	for what, o := range map[string]outage{
		"away": {fails: away}, "cut off": {fails: half}, "killed": {fails: killed},
		"without rights":     {fails: forbidden, wants: ": want credentials with the right to read, on S3 the actions GetObject and ListBucket (docs/store.md#urls)"},
		"with another time":  {fails: skewed, wants: ": want the clock of this machine set right, for example by NTP"},
		"not to be written":  {fails: unwritable, wants: ": want credentials with the right to write, on S3 the action PutObject (docs/store.md#urls)", lists: true},
		"full":               {fails: full, wants: room, lists: true},
		"full for its quota": {fails: overQuota, wants: room, lists: true},
	} {
		t.Run(what, func(t *testing.T) {
			holds(t, newServer(t, program), o)
		})
	}
	t.Run("a removal without rights", func(t *testing.T) { refusesRemovals(t, newServer(t, program)) })
	t.Run("a tape of many parts", func(t *testing.T) { manyParts(t, newServer(t, program)) })
	t.Run("away for an hour", func(t *testing.T) { anHour(t, newServer(t, program)) })
}

// anHour kills the server for an hour of an uploader's time, in which one more tape is finished.
func anHour(t *testing.T, g *server) {
	folder := t.TempDir()
	s, err := store.Open(t.Context(), g.url)
	if err != nil {
		t.Fatal(err)
	}
	now := clocktesting.NewFakeClock(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))
	failed := make(chan error)
	u := &store.Uploader{Folder: folder, Store: s, Keep: store.Keep{Age: 1}, Clock: now, Failed: func(err error) { failed <- err }}
	tapes := finished(t, folder, 0, 1)
	g.fail(killed)
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { u.Run(ctx, nil, 10*time.Minute) })
	step := func() {
		for !now.HasWaiters() {
			runtime.Gosched()
		}
		now.Step(10 * time.Minute)
	}
	for tenth := range 6 { // each try takes seconds: the library tries three times
		<-failed
		if tenth == 3 {
			tapes = append(tapes, finished(t, folder, 1, 2)...)
		}
		step()
	}
	<-failed
	if state := u.State(); state.Waiting != 2 || state.Uploaded != 0 {
		t.Errorf("found %+v after an hour, want 2 to wait", state)
	}
	g.mend()
	step()
	for u.State().Waiting > 0 || u.State().Uploaded < 2 {
		select {
		case err := <-failed:
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	end()
	running.Wait()
	for _, x := range tapes {
		if err := s.Get(t.Context(), x, io.Discard); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// refusesRemovals removes a tape from a store that refuses it, which is an error that says what is wanted.
func refusesRemovals(t *testing.T, g *server) {
	folder := t.TempDir()
	tapes := finished(t, folder, 0, 1)
	s, err := store.Open(t.Context(), g.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	u := &store.Uploader{Folder: folder, Store: s, Clock: clock.RealClock{}}
	if err := u.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.fail(forbidden)
	const wants = ": want credentials with the right to delete, on S3 the actions GetObject, ListBucket and DeleteObject (docs/store.md#urls)"
	if err := s.Delete(t.Context(), tapes[0]); err == nil || !isLine(err.Error(), s, tapes[0], wants) {
		t.Errorf("found %v, want one line that ends with %q", err, wants)
	}
	g.mend()
	if found, skipped, err := s.List(t.Context(), store.Query{}); err != nil || len(skipped) > 0 || len(found) != 1 {
		t.Errorf("found %d tapes, %v, %v, want the one that wasn't removed", len(found), skipped, err)
	}
}

// isLine reports whether a text is one line, which begins with the place and ends with what is wanted.
func isLine(text string, s *store.Store, x store.Tape, wants string) bool {
	return !strings.Contains(text, "\n") && strings.HasPrefix(text, "store "+s.Address+": tape "+x.Name+": ") && strings.HasSuffix(text, wants)
}

// holds uploads tapes to a store that fails, and then to one that works.
func holds(t *testing.T, g *server, o outage) {
	folder := t.TempDir()
	tapes := finished(t, folder, 0, 3)
	s, err := store.Open(t.Context(), g.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	u := &store.Uploader{Folder: folder, Store: s, Keep: store.Keep{Age: 1}, Clock: clock.RealClock{}}
	g.fail(o.fails)
	err = u.Once(t.Context())
	if err == nil || u.State().Waiting != 3 {
		t.Fatalf("found %v, %+v, want all to wait", err, u.State())
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(tapes) {
		t.Fatalf("found %d lines, want one for each tape:\n%v", len(lines), err)
	}
	for i, line := range lines {
		if !isLine(line, s, tapes[i], o.wants) {
			t.Errorf("found %q, want the store, tape %s, and an end with %q", line, tapes[i].Name, o.wants)
		}
	}
	if found, _, err := s.List(t.Context(), store.Query{}); (err == nil) != o.lists {
		t.Errorf("found %d tapes and the error %v in a list, want an error: %v", len(found), err, !o.lists)
	}
	if left, err := store.Finished(folder); err != nil || len(left) != 3 {
		t.Errorf("found %d tapes in the folder, %v, want 3", len(left), err)
	}
	g.mend()
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
}
