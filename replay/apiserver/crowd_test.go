package apiserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/replay/apiserver"
)

// The crowd is a thousand clients that open a watch and don't read.
const crowd = 1000

// mostHeap holds what may stay in memory after them: less than 64 KB each, and
// nothing of the 40 MB that a reader was sent meanwhile.
const mostHeap = crowd * 64 << 10

// A thousand clients that never read hold up no one: a client that reads gets everything.
// They are cut off, and nothing of them stays.
func TestACrowdThatNeverReads(t *testing.T) {
	const changes = 4000
	s, p := shouting(t, changes, 10*time.Second) // who reads is never late by so much, on a busy machine either
	before := heap()
	for range crowd {
		defer func(c io.Closer) { _ = c.Close() }(watching(t, s))
	}
	reader := watching(t, s)
	defer func() { _ = reader.Close() }()
	stop := play(t, p)
	defer stop()
	body := bufio.NewReader(reader)
	for n := range changes {
		line, err := body.ReadString('\n')
		if want := fmt.Sprintf(`"resourceVersion":"%d"`, n+2); err != nil || !strings.Contains(line, want) {
			t.Fatalf("event %d: found %.100s (%v), want %s", n, line, err, want)
		}
	}
	_ = reader.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for len(p.Cluster().Watches()) > 0 {
		select {
		case <-ctx.Done():
			t.Fatalf("%d watches are still open", len(p.Cluster().Watches()))
		case <-time.After(10 * time.Millisecond):
		}
	}
	if now := heap(); now > before+mostHeap {
		t.Errorf("the heap has grown by %d KB, want at most %d", (now-before)>>10, mostHeap>>10)
	}
}

// A thousand slow clients see each event once, in order, however late they read.
func TestACrowdThatReadsLate(t *testing.T) {
	const changes = 20
	s, p := shouting(t, changes, time.Minute)
	var late []io.ReadCloser
	for range crowd {
		late = append(late, watching(t, s))
	}
	reader := watching(t, s)
	stop := play(t, p)
	defer stop()
	for _, c := range append([]io.ReadCloser{reader}, late...) { // the first is through before any other begins
		body := bufio.NewReader(c)
		for n := range changes {
			line, err := body.ReadString('\n')
			if want := fmt.Sprintf(`"resourceVersion":"%d"`, n+2); err != nil || !strings.Contains(line, want) {
				t.Fatalf("event %d: found %.100s (%v), want %s", n, line, err, want)
			}
		}
		_ = c.Close()
	}
}

// watching opens a watch in memory, and reads nothing of it.
func watching(t *testing.T, s *apiserver.Server) io.ReadCloser {
	t.Helper()
	res, err := s.RoundTripper().RoundTrip(request(t, "http://localhost/api/v1/nodes?watch=1&resourceVersion=1", ""))
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
	return res.Body
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what had a finalizer
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
