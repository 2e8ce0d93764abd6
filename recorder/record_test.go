package recorder_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// eager is a clock whose timers fire at once: waiting takes no time, but the
// clock shows that it has passed. Tickers never fire by themselves.
type eager struct {
	*clocktesting.FakeClock
	mu      sync.Mutex
	waited  []time.Duration
	forever time.Duration // timers of at least this never fire
}

func newEager() *eager {
	return &eager{FakeClock: clocktesting.NewFakeClock(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)), forever: time.Hour}
}

func (c *eager) NewTimer(d time.Duration) clock.Timer {
	if d >= c.forever {
		return c.FakeClock.NewTimer(d)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waited = append(c.waited, d)
	t := c.FakeClock.NewTimer(d)
	c.Step(d)
	return t
}

func (c *eager) pauses() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(c.waited)
}

// recording is a recording of an api under test.
type recording struct {
	cfg   recorder.Config
	clock *eager
	file  string
	sum   recorder.Summary
	warns []string
}

// until makes Stop out of the name of the last object.
func until(name string) func(timeline.Event) bool {
	return func(ev timeline.Event) bool { return ev.Name == name }
}

func record(t *testing.T, a *api, change func(*recorder.Config)) (*recording, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	r, err := recordIn(ctx, t, a, change)
	if ctx.Err() != nil {
		t.Error("the recording had to be stopped after five minutes")
	}
	return r, err
}

func recordIn(ctx context.Context, t *testing.T, a *api, change func(*recorder.Config)) (*recording, error) {
	t.Helper()
	r := &recording{clock: newEager(), file: filepath.Join(t.TempDir(), "tape.yaml")}
	r.cfg = recorder.Config{
		REST: a.config(), Name: "test", Resources: []string{"nodes"}, Clock: r.clock, Jitter: func() float64 { return 0 },
		Stop: until("end"), Warn: func(s string) { r.warns = append(r.warns, s) },
		Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(r.file, h) },
	}
	if change != nil {
		change(&r.cfg)
	}
	rec, err := recorder.New(r.cfg)
	if err != nil {
		return r, err
	}
	r.sum, err = rec.Run(ctx)
	return r, err
}

// lines renders a tape without its objects.
func lines(t *testing.T, file string) string {
	t.Helper()
	r, err := timeline.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	return render(t, r)
}

func render(t *testing.T, r *timeline.Reader) string {
	t.Helper()
	var b strings.Builder
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatalf("%v\nread so far:\n%s", err, b.String())
		}
		name := ev.Name
		if ev.Namespace != "" {
			name = ev.Namespace + "/" + name
		}
		fmt.Fprintln(&b, strings.Join(strings.Fields(fmt.Sprint(ev.At, " ", ev.Type, " ", ev.Resource, " ", name, " ", ev.RV, " ", ev.Reason)), " "))
	}
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	want = strings.TrimLeft(strings.ReplaceAll(want, "\t", ""), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, found +:\n%s", diff)
	}
}

func node(name, more string) string {
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"uid":"uid-%s"},"spec":{%s}}`, name, name, more)
}

func TestListThenWatch(t *testing.T) {
	a := newAPI(t)
	a.page = 2
	for _, n := range []string{"a", "b", "c", "d", "e"} {
		a.put(nodesPath, "ADDED", node(n, ""))
	}
	a.fail("watch "+nodesPath, say(""), func(http.ResponseWriter, *http.Request) bool {
		a.put(nodesPath, "MODIFIED", node("b", `"unschedulable":true`))
		a.put(nodesPath, "DELETED", node("c", ""))
		a.put(nodesPath, "ADDED", node("end", ""))
		return true
	})
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, lines(t, r.file), `
	0s ADDED nodes a 101
	0s ADDED nodes b 102
	0s ADDED nodes c 103
	0s ADDED nodes d 104
	0s ADDED nodes e 105
	0s SYNC nodes 105
	100ms MODIFIED nodes b 106
	100ms DELETED nodes c 107
	100ms ADDED nodes end 108
	100ms END complete
	`)
	h := r.sum.Header
	if h.Source.Cluster != "cluster-1" || h.Source.Server != "v1.36.3" || r.sum.End != recorder.EndComplete || r.sum.Nodes != 5 {
		t.Errorf("found %+v", r.sum)
	}
}

// What changes while a long list is read, and what makes it start over, leaves
// no trace but the state in the end.
func TestLongListThatBeginsAnew(t *testing.T) {
	a := newAPI(t)
	a.page = 2
	for _, n := range []string{"a", "b", "c", "d", "e"} {
		a.put(nodesPath, "ADDED", node(n, ""))
	}
	ok := func(http.ResponseWriter, *http.Request) bool { return true }
	a.fail("list "+nodesPath, ok, ok, // the glance, the first page
		func(w http.ResponseWriter, r *http.Request) bool {
			a.put(nodesPath, "MODIFIED", node("a", `"unschedulable":true`))
			a.put(nodesPath, "DELETED", node("b", ""))
			a.put(nodesPath, "ADDED", node("end", ""))
			return status(410, "Expired", "The provided continue parameter is too old")(w, r)
		})
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, lines(t, r.file), `
	0s ADDED nodes a 101
	0s ADDED nodes b 102
	0s DELETED nodes b
	0s MODIFIED nodes a 106
	0s ADDED nodes c 103
	0s ADDED nodes d 104
	0s ADDED nodes e 105
	0s ADDED nodes end 108
	0s SYNC nodes 108
	100ms END complete
	`)
}
