package daemon_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
)

// maxSize is the MaxSize of these tests. A piece of the history is a quarter of it, but 1 MiB at least.
const maxSize = 2 << 20

// sized is a daemon with a MaxSize, in a folder, and a function that changes a node: it adds nearly 100 KiB to the history, however that is
// compressed, and returns the version once the daemon has looked at what there is. Nothing comes to its end by its age.
func sized(t *testing.T, dir string) (*running, func(node string, unschedulable bool) int) {
	t.Helper()
	a := cluster(t)
	o := options(a, dir)
	o.MaxSize, o.MaxAge, o.Before = maxSize, 1000*time.Hour, 1000*time.Hour
	var ticks atomic.Int64
	o.Leads = func() bool { ticks.Add(1); return true }
	r := run(t, o, clocktesting.NewFakeClock(start))
	r.recording()
	r.wait("the lists", func() bool { return r.Stats().Events >= 10 })
	random := rand.NewChaCha8([32]byte{})
	return r, func(node string, unschedulable bool) int {
		t.Helper()
		text := make([]byte, 96<<10)
		_, _ = random.Read(text) // it never fails
		n := r.Stats().Events
		rv := a.node("MODIFIED", node, fmt.Sprintf(`"unschedulable":%t,"providerID":"%x"`, unschedulable, text))
		r.wait("the event", func() bool { return r.Stats().Events > n })
		ticked := ticks.Load()
		for range 2 {
			r.clock.Step(time.Second)
		}
		r.wait("the daemon to see the time", func() bool { return ticks.Load() > ticked })
		return rv
	}
}

// A roll of which much is recorded has its tape in parts of MaxSize, without a gap between them.
func TestPartsOfLargeRoll(t *testing.T) {
	r, change := sized(t, t.TempDir())
	var want []string
	for i := range 60 {
		node := "a-" + strconv.Itoa(1+i%2)
		want = append(want, fmt.Sprintf("nodes %s %d", node, change(node, i%4 < 2)))
	}
	for i := range 2 {
		change("a-"+strconv.Itoa(1+i), false)
	}
	var tapes []store.Tape
	r.until("the end", func() bool {
		tapes = r.finished(0)
		return slices.ContainsFunc(tapes, func(t store.Tape) bool { return t.Outcome == trigger.Complete })
	})
	if len(tapes) < 3 {
		t.Errorf("found %d parts, want at least 3", len(tapes))
	}
	for i, tape := range tapes {
		last := i == len(tapes)-1
		if tape.Part != i+1 || (tape.Outcome == trigger.Complete) != last {
			t.Errorf("found part %d %s, want part %d of %d", tape.Part, tape.Outcome, i+1, len(tapes))
		}
		if !last && (tape.Bytes < maxSize/2 || tape.Bytes > 2*maxSize) {
			t.Errorf("found %d bytes in part %d, want about %d", tape.Bytes, tape.Part, maxSize)
		}
	}
	c := read(t, r.paths()...)
	for _, w := range want {
		if !c.versions[w] {
			t.Errorf("the tapes lack %s", w)
		}
	}
	if c.gaps > 0 {
		t.Errorf("found %d gaps, want none", c.gaps)
	}
}

// Where no roll is on, the history is not much more than MaxSize, however young it is.
func TestHistoryOfMaxSize(t *testing.T) {
	dir := t.TempDir()
	r, change := sized(t, dir)
	for i := range 60 {
		change("b-"+strconv.Itoa(1+i%2), false)
	}
	s := r.Stats()
	if len(s.Open) > 0 || len(r.paths()) > 0 {
		t.Fatalf("found the rolls %+v and the tapes %q, want none: the test shows nothing", s.Open, r.paths())
	}
	if s.HistoryBytes < maxSize/4 || s.HistoryBytes > 2*maxSize {
		t.Errorf("found a history of %d bytes, want about %d", s.HistoryBytes, maxSize)
	}
	if _, err := os.Stat(filepath.Join(dir, "history", "000001-000001.yaml.zst")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the first piece of the history: found %v, want that it is gone", err)
	}
	if n := s.Errors["history"]; n > 0 {
		t.Errorf("found %d errors of the history, want none", n)
	}
}
