package daemon_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/recorder/daemon"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
)

// One that began to record in the middle of a roll, and leads when the other one was killed, makes a tape from its own beginning on, and the
// tape says that something is missing before that.
func TestBeginsInTheMiddleOfARoll(t *testing.T) {
	a := cluster(t)
	first := run(t, options(a, t.TempDir()), clocktesting.NewFakeClock(start))
	first.recording()
	a.node("MODIFIED", "a-1", `"unschedulable":true`)
	first.until("the roll", func() bool { return len(first.Stats().Open) == 1 })
	var leads atomic.Bool
	o := options(a, t.TempDir())
	o.Quiet, o.Leads = 20*time.Minute, leads.Load
	second := run(t, o, clocktesting.NewFakeClock(start))
	second.recording()
	second.until("the roll", func() bool { return len(second.Stats().Open) == 1 })
	if r := second.Stats().Open[0]; r.Group != "a" || r.Trigger.Kind != trigger.Found || r.Trigger.Reason != "node a-1 was cordoned when the recording began" {
		t.Errorf("found the roll %+v", r)
	}
	if !first.Whole() || second.Whole() {
		t.Errorf("has the beginning of the roll: found %t and %t, want true and false", first.Whole(), second.Whole())
	}
	if err := first.end(); err != nil { // without a tape, as if it were killed
		t.Fatal(err)
	}
	leads.Store(true)
	last := a.node("MODIFIED", "a-1", "") // which would begin no roll
	tape := second.finished(1)[0]
	if tape.Group != "a" || tape.Outcome != trigger.Complete || tape.Missing != "node a-1 was cordoned before the recording began" {
		t.Errorf("found the tape %+v", tape)
	}
	c := read(t, second.paths()[0])
	if !c.versions[fmt.Sprintf("nodes a-1 %d", last)] || !slices.Equal(c.marks, []string{daemon.MarkMissing}) || !slices.Equal(c.ends, []string{"complete"}) {
		t.Errorf("found marks %q, ends %q, want the last version of the node, a mark %s and one end", c.marks, c.ends, daemon.MarkMissing)
	}
	second.until("the end of the roll", func() bool { return len(second.Stats().Open) == 0 })
	if !second.Whole() {
		t.Error("lacks the beginning of a roll, though none is on")
	}
}

// A node that somebody has left cordoned is in no roll. A daemon that begins again looks for rolls where its recording began, and not in the state
// with which a later piece of its history begins.
func TestNodeThatIsLeftCordoned(t *testing.T) {
	a, dir := cluster(t), t.TempDir()
	a.node("MODIFIED", "a-1", `"unschedulable":true`)
	o := options(a, dir)
	o.Quiet = 20 * time.Minute
	r := run(t, o, clocktesting.NewFakeClock(start))
	r.recording()
	r.until("a roll that may be on", func() bool { return len(r.Stats().Open) == 1 })
	r.until("that none is on", func() bool { return len(r.Stats().Open) == 0 })
	r.until("the first piece to go", func() bool {
		_, err := os.Stat(filepath.Join(dir, "history", "000001-000001.yaml.zst"))
		return errors.Is(err, fs.ErrNotExist)
	})
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if len(r.tapes) > 0 {
		t.Errorf("found the tapes %+v, want none", r.tapes)
	}
	again := run(t, o, r.clock)
	again.recording()
	a.node("MODIFIED", "b-1", `"unschedulable":true`)
	again.until("the roll of b", func() bool { return len(again.Stats().Open) > 0 })
	if open := again.Stats().Open; len(open) != 1 || open[0].Group != "b" {
		t.Errorf("found the rolls %+v, want that of b alone", open)
	}
}
