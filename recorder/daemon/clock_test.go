package daemon_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/recorder/store"
)

// steppedClock is set by hand: what it measures goes on, as Go's monotonic clock does.
type steppedClock struct {
	*clocktesting.FakeClock
	by atomic.Int64
}

func (c *steppedClock) Now() time.Time { return c.FakeClock.Now().Add(time.Duration(c.by.Load())) }

// A daemon whose disk doesn't answer makes no tapes, and says so.
func TestDiskThatHangs(t *testing.T) {
	a := cluster(t)
	o, hung, release := options(a, t.TempDir()), make(chan struct{}), make(chan struct{})
	o.Finished = func(store.Tape, string) { close(hung); <-release }
	r := run(t, o, clocktesting.NewFakeClock(start))
	r.recording()
	r.wait("to be able", r.Able)
	a.node("MODIFIED", "a-1", `"unschedulable":true`)
	a.node("MODIFIED", "a-1", "")
	r.until("a tape", func() bool {
		select {
		case <-hung:
			return true
		default:
			return false
		}
	})
	r.clock.Step(time.Minute)
	if r.Able() {
		t.Error("a daemon that hangs is able to make tapes")
	}
	close(release)
	r.clock.Step(time.Second)
	r.wait("to be able again", r.Able)
}

// A wall clock that is set has the history begin no piece.
func TestWallClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		a, dir := cluster(t), t.TempDir()
		o, c := options(a, dir), &steppedClock{FakeClock: clocktesting.NewFakeClock(start)}
		var ticks atomic.Int64
		o.Clock, o.Leads = c, func() bool { ticks.Add(1); return true }
		r := run(t, o, c.FakeClock)
		r.recording()
		c.by.Store(int64(by))
		for range 30 {
			n := ticks.Load()
			r.until("a tick", func() bool { return ticks.Load() > n })
		}
		pieces, err := os.ReadDir(filepath.Join(dir, "history"))
		if err != nil || len(pieces) != 1 {
			t.Errorf("set by %s: found %d pieces, %v; want one", by, len(pieces), err)
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	}
}
