package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/timeline"
)

// heartbeats writes a tape of 100 nodes of 2 KB each and n changes of their status.
func heartbeats(b *testing.B, n int) string {
	b.Helper()
	var pad strings.Builder
	for i := range 60 {
		fmt.Fprintf(&pad, `,"label-%d":"some value of a node"`, i)
	}
	name := filepath.Join(b.TempDir(), "heartbeats.yaml")
	w, err := timeline.Create(name, timeline.Header{
		Metadata:  timeline.Metadata{Name: "heartbeats"},
		Source:    timeline.Origin{Kind: "recording", Server: "v1.36.3"},
		Resources: []timeline.Resource{{Version: "v1", Kind: "Node", Resource: "nodes"}},
	})
	if err != nil {
		b.Fatal(err)
	}
	write := func(ev timeline.Event) {
		ev.Resource = "nodes"
		if err := w.Write(ev); err != nil {
			b.Fatal(err)
		}
	}
	node := func(kind timeline.Type, at, i, rv int) {
		name := fmt.Sprint("node-", i)
		write(timeline.Event{
			At: time.Duration(at) * time.Millisecond, Type: kind, Name: name, UID: name, RV: strconv.Itoa(rv),
			Object: fmt.Appendf(nil, `{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"uid":%q,"resourceVersion":"%d","labels":{"n":"1"%s}},"status":{"nodeInfo":{"bootID":"%d"}}}`, name, name, rv, pad.String(), at),
		})
	}
	for i := range 100 {
		node(timeline.Added, 0, i, 100+i)
	}
	write(timeline.Event{Type: timeline.Sync, RV: "300"})
	for i := range n {
		node(timeline.Modified, i, i%100, 1000+i)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return name
}

// servedTape is a server over a tape at maximum speed, that isn't played yet.
type servedTape struct {
	player     *replay.Player
	url, token string
	leave      func() error
}

// open serves a tape: plainly, or over TLS and with a token, as nodesim serve does.
func open(b *testing.B, tape string, secure bool) *servedTape {
	b.Helper()
	p, err := replay.NewPlayer(replay.File(tape), replay.WithSpeed(replay.Max), replay.KeepPace(4096))
	if err != nil {
		b.Fatal(err)
	}
	s, err := apiserver.New(p)
	if err != nil {
		b.Fatal(err)
	}
	if !secure {
		web := httptest.NewServer(s)
		return &servedTape{p, web.URL, "", func() error { s.Close(); web.Close(); return p.Close() }}
	}
	l, err := s.Listen("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- l.Serve(ctx) }()
	return &servedTape{p, l.URL(), l.RESTConfig().BearerToken, func() error { stop(); return errors.Join(<-served, p.Close()) }}
}

// both runs a benchmark over either.
func both(b *testing.B, run func(b *testing.B, secure bool)) {
	b.Run("plain", func(b *testing.B) { run(b, false) })
	b.Run("tls", func(b *testing.B) { run(b, true) })
}

const nodesFrom300 = "/api/v1/nodes?watch=true&resourceVersion=300"

// BenchmarkThousandWatchers sends 5,000 events of 100 nodes to a thousand clients
// in a process of their own, and counts what each costs the server in memory while
// it waits, and in processor time for each event that it gets. No event may be
// missing. The limit is 100 KB a watcher.
func BenchmarkThousandWatchers(b *testing.B) {
	const watchers, events = 1000, 5000
	tape := heartbeats(b, events)
	both(b, func(b *testing.B, secure bool) {
		for b.Loop() {
			at := open(b, tape, secure)
			before := resident(b)
			clients := startMany(b, watchers, events, at.url+nodesFrom300, credentials{token: at.token})
			b.ReportMetric(float64(resident(b)-before)/watchers, "B/watcher")
			start, spent := time.Now(), cpu(b)
			if err := at.player.Run(context.Background()); err != nil {
				b.Fatal(err)
			}
			clients.done(b)
			b.ReportMetric(float64((cpu(b)-spent).Nanoseconds())/(watchers*events), "cpu-ns/delivery")
			b.ReportMetric(watchers*events/time.Since(start).Seconds(), "deliveries/s")
			b.ReportMetric(float64(resident(b)-before)/watchers, "B/watcher-after")
			clients.leave(b)
			if err := at.leave(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// resident is the memory that the process holds, after a collection.
func resident(b *testing.B) int64 {
	b.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// cpu is the processor time that the process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFirstAnswer opens a tape and serves it up to the first list. The
// limit is 300 ms.
func BenchmarkFirstAnswer(b *testing.B) {
	tape := heartbeats(b, 1000)
	both(b, func(b *testing.B, secure bool) {
		for b.Loop() {
			at := open(b, tape, secure)
			body, err := openWatch(at.url+"/api/v1/nodes", at.token, insecure())
			if err != nil {
				b.Fatal(err)
			}
			if err := errors.Join(body.Close(), at.leave()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
