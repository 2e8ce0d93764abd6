package daemon_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/daemon"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
)

// running is a daemon under test.
type running struct {
	*daemon.Daemon
	t     *testing.T
	clock *clocktesting.FakeClock
	end   func() error // ends it; a second time is no harm

	mu    sync.Mutex
	tapes []store.Tape
	files []string
	logs  []string
}

func options(a *api, dir string) daemon.Options {
	return daemon.Options{Dir: dir, Quiet: time.Minute, Before: 5 * time.Minute, Record: recorder.Config{REST: a.config(), Name: "test", Resources: []string{"nodes", "pods"}}}
}

var start = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

func run(t *testing.T, o daemon.Options, c *clocktesting.FakeClock) *running {
	t.Helper()
	r := &running{t: t, clock: c}
	if o.Clock == nil {
		o.Clock = c
	}
	also := o.Finished
	o.Finished = func(tape store.Tape, file string) {
		if also != nil {
			also(tape, file)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.tapes, r.files = append(r.tapes, tape), append(r.files, file)
	}
	o.Log = func(_ daemon.Level, message string, args ...any) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.logs = append(r.logs, fmt.Sprint(append([]any{message, " "}, args...)...))
	}
	d, err := daemon.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Daemon = d
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var owned sync.WaitGroup
	owned.Go(func() { ended <- d.Run(ctx) })
	r.end = sync.OnceValue(func() error {
		cancel()
		owned.Wait()
		return <-ended
	})
	t.Cleanup(func() { _ = r.end() })
	return r
}

// until steps the clock until something is so.
func (r *running) until(what string, is func() bool) {
	r.t.Helper()
	r.wait(what, func() bool {
		r.clock.Step(time.Second)
		return is()
	})
}

// wait waits without a step of the clock.
func (r *running) wait(what string, is func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Minute)
	defer cancel()
	for !is() {
		select {
		case <-ctx.Done():
			r.mu.Lock()
			defer r.mu.Unlock()
			r.t.Fatalf("%s: not within ten minutes; stats %+v, log:\n%s", what, r.Stats(), strings.Join(r.logs, "\n"))
		case <-time.After(time.Millisecond):
		}
	}
}

func (r *running) recording() {
	r.t.Helper()
	r.until("recording", func() bool { return r.Stats().Recording })
}

func (r *running) finished(n int) []store.Tape {
	r.t.Helper()
	r.until(fmt.Sprint(n, " tapes"), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.tapes) >= n
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.tapes)
}

// paths are the files of the tapes.
func (r *running) paths() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.files)
}

// cluster begins with two nodes in each of two groups.
func cluster(t *testing.T) *api {
	a := newAPI(t)
	for _, n := range []string{"a-1", "a-2", "b-1", "b-2"} {
		a.node("ADDED", n, "")
		a.pod("ADDED", "on-"+n, n)
	}
	return a
}

// A roll that nobody announced has a tape, with what led to it.
func TestRollHasTape(t *testing.T) {
	a, dir := cluster(t), t.TempDir()
	r := run(t, options(a, dir), clocktesting.NewFakeClock(start))
	r.recording()
	led := a.pod("MODIFIED", "on-a-1", "a-1")
	r.wait("the event", func() bool { return r.Stats().Events >= 11 })
	for range 4 { // minutes
		for range 60 {
			r.clock.Step(time.Second)
		}
	}
	a.node("MODIFIED", "a-1", `"unschedulable":true`)
	r.until("the roll", func() bool { return len(r.Stats().Open) == 1 && r.Stats().Drains["a"] > 0 })
	a.pod("DELETED", "on-a-1", "a-1")
	last := a.node("DELETED", "a-1", `"unschedulable":true`)
	tape := r.finished(1)[0]
	if tape.Group != "a" || tape.Outcome != trigger.Complete || tape.Trigger.Kind != trigger.Cordon || tape.Cluster != "cluster-1" || tape.Part != 1 || tape.Missing != "" {
		t.Errorf("found the tape %+v", tape)
	}
	c := read(t, r.paths()[0])
	for _, want := range []string{fmt.Sprintf("pods on-a-1 %d", led), fmt.Sprintf("nodes a-1 %d", last)} {
		if !c.versions[want] {
			t.Errorf("the tape lacks %s", want)
		}
	}
	if len(c.marks) != 0 || !slices.Equal(c.ends, []string{"complete"}) || c.gaps != 0 {
		t.Errorf("found marks %q, ends %q, %d gaps", c.marks, c.ends, c.gaps)
	}
	if s := r.Stats(); len(s.Open) != 0 || s.Tapes[trigger.Complete] != 1 {
		t.Errorf("found the stats %+v", s)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	// Started again, it makes no second tape of the same roll.
	again := run(t, options(a, dir), r.clock)
	again.recording()
	a.node("MODIFIED", "b-1", `"unschedulable":true`)
	again.until("a roll", func() bool { return len(again.Stats().Open) == 1 })
	a.node("MODIFIED", "b-1", "")
	if tape := again.finished(1)[0]; tape.Group != "b" {
		t.Errorf("found a tape of group %q again", tape.Group)
	}
}

// As many evictions as Evictions says begin a roll, and not one fewer.
func TestRollOfEvictions(t *testing.T) {
	a := cluster(t)
	o := options(a, t.TempDir())
	o.Evictions = 3
	r := run(t, o, clocktesting.NewFakeClock(start))
	r.recording()
	r.wait("the lists", func() bool { return r.Stats().Events >= 10 })
	for i, node := range []string{"a-1", "b-1", "a-2", "b-2", "a-1"} {
		n := r.Stats().Events
		name := fmt.Sprint("evicted-", i)
		a.put("pods", "ADDED", name, `{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"%d","namespace":"default","name":"`+name+
			`","uid":"uid-`+name+`"},"spec":{"nodeName":"`+node+`"},"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI"}]}}`)
		r.wait("the event", func() bool { return r.Stats().Events > n })
	}
	if tapes := r.finished(1); len(tapes) != 1 || tapes[0].Group != "a" || tapes[0].Trigger.Kind != trigger.Evictions || tapes[0].Trigger.Name != "evicted-4" {
		t.Errorf("found the tapes %+v, want one of a, whose roll the third eviction there began", tapes)
	}
}

// What was under way before the recording began is said to be missing.
func TestBeginIsMissing(t *testing.T) {
	a := cluster(t)
	a.node("MODIFIED", "a-1", `"unschedulable":true`)
	r := run(t, options(a, t.TempDir()), clocktesting.NewFakeClock(start))
	r.recording()
	a.node("DELETED", "a-1", `"unschedulable":true`)
	tape := r.finished(1)[0]
	if want := "node a-1 was cordoned before the recording began"; tape.Missing != want {
		t.Errorf("found missing %q, want %q", tape.Missing, want)
	}
	if c := read(t, r.paths()[0]); !slices.Equal(c.marks, []string{daemon.MarkMissing}) {
		t.Errorf("found marks %q, want one that says it", c.marks)
	}
}

// One that stands by makes no tapes. When it leads, since the other one is gone, it has all of the roll that is on.
func TestStandsBy(t *testing.T) {
	a := cluster(t)
	first := run(t, options(a, t.TempDir()), clocktesting.NewFakeClock(start))
	var leads atomic.Bool
	var asked atomic.Int64
	o := options(a, t.TempDir())
	o.Leads, o.FinishOnStop = func() bool { asked.Add(1); return leads.Load() }, true
	second := run(t, o, clocktesting.NewFakeClock(start))
	first.recording()
	second.recording()
	a.node("MODIFIED", "b-1", `"unschedulable":true`)
	first.until("a roll", func() bool { return len(first.Stats().Open) == 1 })
	second.until("a roll", func() bool { return len(second.Stats().Open) == 1 })
	a.node("MODIFIED", "b-1", "")
	made := first.finished(1)[0]
	second.until("the end of the roll", func() bool { return len(second.Stats().Open) == 0 })
	for range 10 * 60 { // what the other one has made is forgotten, when it is looked at next
		second.clock.Step(time.Second)
	}
	looked := asked.Load()
	second.until("two looks", func() bool { return asked.Load() > looked+1 })
	cordoned := a.node("MODIFIED", "a-1", `"unschedulable":true`)
	second.until("another roll", func() bool { return len(second.Stats().Open) == 1 })
	if err := first.end(); err != nil {
		t.Error(err)
	}
	if len(second.tapes) > 0 {
		t.Errorf("found tapes of one that stands by: %+v", second.tapes)
	}
	leads.Store(true)
	last := a.node("DELETED", "a-1", `"unschedulable":true`)
	tape := second.finished(1)[0]
	if tape.Group != "a" || tape.Outcome != trigger.Complete || tape.Missing != "" || tape.Name == made.Name {
		t.Errorf("found the tape %+v", tape)
	}
	c := read(t, second.paths()[0])
	for _, want := range []int{cordoned, last} {
		if !c.versions[fmt.Sprintf("nodes a-1 %d", want)] {
			t.Errorf("the tape lacks version %d of the node", want)
		}
	}
}

// A roll that has its tape gets no second one of its tail, when the pieces with its beginning are gone and the daemon begins again.
func TestTailHasNoTapeOfItsOwn(t *testing.T) {
	a, dir := cluster(t), t.TempDir()
	r := run(t, options(a, dir), clocktesting.NewFakeClock(start))
	piece := func(n int) bool {
		_, err := os.Stat(filepath.Join(dir, "history", fmt.Sprintf("000001-%06d.yaml.zst", n)))
		return err == nil
	}
	event := func(node, spec string) {
		n := r.Stats().Events
		a.node("MODIFIED", node, spec)
		r.wait("the event", func() bool { return r.Stats().Events > n })
	}
	r.recording()
	event("a-1", `"unschedulable":true`)
	r.until("a second piece", func() bool { return piece(2) })
	event("a-2", `"unschedulable":true`) // would begin a roll, had none been on
	event("a-1", "")
	event("a-2", "")
	tape := r.finished(1)[0]
	r.until("the first piece to go", func() bool { return !piece(1) })
	if !piece(2) || tape.Trigger.Name != "a-1" {
		t.Fatalf("want the second piece alone: the test shows nothing; found the tape %+v", tape)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	again := run(t, options(a, dir), r.clock)
	again.recording()
	a.node("MODIFIED", "b-1", `"unschedulable":true`)
	again.until("a roll", func() bool { return len(again.Stats().Open) == 1 && again.Stats().Open[0].Group == "b" })
	a.node("MODIFIED", "b-1", "")
	if tape := again.finished(1)[0]; tape.Group != "b" {
		t.Errorf("found a second tape of the roll of a: %+v", tape)
	}
}

// A piece of the history that somebody else has removed keeps no other one there.
func TestPieceIsGone(t *testing.T) {
	a, dir := cluster(t), t.TempDir()
	r := run(t, options(a, dir), clocktesting.NewFakeClock(start))
	r.recording()
	files := func() []string {
		all, err := filepath.Glob(filepath.Join(dir, "history", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	r.until("a second piece", func() bool { return len(files()) == 2 })
	if err := os.Remove(files()[0]); err != nil {
		t.Fatal(err)
	}
	second := files()[0]
	r.until("the second piece to go too", func() bool { return !slices.Contains(files(), second) })
	if n := r.Stats().Errors["history"]; n > 0 {
		t.Errorf("found %d errors of the history, want none: the piece was to go", n)
	}
}

// A tape that can't be written is tried again after pauses, and the stats say so: another replica may have a disk with room.
func TestTapesFail(t *testing.T) {
	a, dir := cluster(t), t.TempDir()
	r := run(t, options(a, dir), clocktesting.NewFakeClock(start))
	r.recording()
	a.node("MODIFIED", "a-1", `"unschedulable":true`)
	r.until("the roll", func() bool { return len(r.Stats().Open) == 1 })
	tapes := filepath.Join(dir, "tapes")
	if err := os.RemoveAll(tapes); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tapes, nil, 0o600); err != nil { // no folder
		t.Fatal(err)
	}
	a.node("MODIFIED", "a-1", "")
	r.until("a failure", func() bool { return r.Stats().TapesFail })
	from, failures := r.clock.Now(), r.Stats().Errors["tape"]
	r.until("five minutes", func() bool { return r.clock.Since(from) > 5*time.Minute })
	if n := r.Stats().Errors["tape"] - failures; n > 16 {
		t.Errorf("tried %d times in five minutes, want pauses of up to half a minute", n)
	}
	if err := os.Remove(tapes); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(tapes, 0o755); err != nil {
		t.Fatal(err)
	}
	r.finished(1)
	r.until("no failure", func() bool { return !r.Stats().TapesFail })
}

// One that stands by keeps a roll that is over for as long as nobody makes tapes.
func TestKeepsWhatNobodyMakes(t *testing.T) {
	a := cluster(t)
	var leads atomic.Bool
	o := options(a, t.TempDir())
	o.Leads, o.Covered = leads.Load, func() bool { return false }
	r := run(t, o, clocktesting.NewFakeClock(start))
	r.recording()
	a.node("MODIFIED", "b-1", `"unschedulable":true`)
	r.until("a roll", func() bool { return len(r.Stats().Open) == 1 })
	a.node("MODIFIED", "b-1", "")
	r.until("its end", func() bool { return len(r.Stats().Open) == 0 })
	ended := r.clock.Now()
	r.until("four times what is kept", func() bool { return r.clock.Since(ended) > 4*o.Before })
	looks := r.Stats().HistoryBytes
	r.until("a look", func() bool { return r.Stats().HistoryBytes != looks }) // a piece of the history is begun
	leads.Store(true)
	if tape := r.finished(1)[0]; tape.Group != "b" || tape.Outcome != trigger.Complete {
		t.Errorf("found the tape %+v, want that of b", tape)
	}
}

// One that is ended before it leads makes the tape of what it has seen: the one that led may be gone, and the next one may be too young.
// It makes none of a roll that is over.
func TestEndsWhileItStandsBy(t *testing.T) {
	a := cluster(t)
	o := options(a, t.TempDir())
	o.Leads, o.FinishOnStop = func() bool { return false }, true
	r := run(t, o, clocktesting.NewFakeClock(start))
	r.recording()
	a.node("MODIFIED", "b-1", `"unschedulable":true`)
	r.until("a roll", func() bool { return len(r.Stats().Open) == 1 })
	a.node("MODIFIED", "b-1", "")
	r.until("its end", func() bool { return len(r.Stats().Open) == 0 })
	cordoned := a.node("MODIFIED", "a-1", `"unschedulable":true`)
	r.until("another roll", func() bool { return len(r.Stats().Open) == 1 })
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if len(r.tapes) != 1 || r.tapes[0].Group != "a" || r.tapes[0].Outcome != trigger.Interrupted {
		t.Fatalf("found the tapes %+v, want that of the roll of a, interrupted", r.tapes)
	}
	if c := read(t, r.paths()[0]); !c.versions[fmt.Sprintf("nodes a-1 %d", cordoned)] {
		t.Error("the tape lacks the cordon")
	}
}

// A daemon that ends in the middle of a roll makes its tape so far. One that goes on in the same folder makes that of the whole roll,
// under another name: a store that has the one takes the other too.
func TestInterruptedAndResumed(t *testing.T) {
	a, dir := cluster(t), t.TempDir()
	o := options(a, dir)
	o.FinishOnStop = true
	r := run(t, o, clocktesting.NewFakeClock(start))
	r.recording()
	cordoned := a.node("MODIFIED", "a-1", `"unschedulable":true`)
	r.until("the roll", func() bool { return len(r.Stats().Open) == 1 })
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	stump := r.finished(1)[0]
	again := run(t, o, r.clock)
	again.recording()
	last := a.node("DELETED", "a-1", `"unschedulable":true`)
	whole := again.finished(1)[0]
	if stump.Outcome != trigger.Interrupted || whole.Outcome != trigger.Complete || !strings.HasPrefix(stump.Name, whole.Name+"-until-") {
		t.Errorf("found the tapes %+v and %+v", stump, whole)
	}
	if c := read(t, r.paths()[0]); !c.versions[fmt.Sprintf("nodes a-1 %d", cordoned)] || !slices.Equal(c.ends, []string{"interrupted"}) {
		t.Errorf("the interrupted tape lacks the cordon, or ends in %q", c.ends)
	}
	c := read(t, again.paths()[0])
	for _, want := range []int{cordoned, last} {
		if !c.versions[fmt.Sprintf("nodes a-1 %d", want)] {
			t.Errorf("the whole tape lacks version %d of the node", want)
		}
	}
}

// A roll that takes long has its tape in parts, without a gap between them.
func TestPartsOfLongRoll(t *testing.T) {
	a := cluster(t)
	o := options(a, t.TempDir())
	o.MaxAge = 3 * time.Minute
	var ticks atomic.Int64
	o.Leads = func() bool { ticks.Add(1); return true }
	r := run(t, o, clocktesting.NewFakeClock(start))
	r.recording()
	var want []string
	for i := range 40 {
		n := r.Stats().Events
		rv := a.node("MODIFIED", "a-"+strconv.Itoa(1+i%2), `"unschedulable":`+strconv.FormatBool(i%4 < 2))
		want = append(want, fmt.Sprintf("nodes a-%d %d", 1+i%2, rv))
		r.wait("the event", func() bool { return r.Stats().Events > n })
		ticked := ticks.Load()
		for range 20 {
			r.clock.Step(time.Second)
		}
		r.wait("the daemon to see the time", func() bool { return ticks.Load() > ticked })
	}
	for i := range 2 {
		a.node("MODIFIED", "a-"+strconv.Itoa(1+i), "")
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
		if tape.Part != i+1 || (tape.Outcome == trigger.Complete) != (i == len(tapes)-1) {
			t.Errorf("found part %d %s, want part %d of %d", tape.Part, tape.Outcome, i+1, len(tapes))
		}
	}
	c := read(t, r.paths()...)
	for _, w := range want {
		if !c.versions[w] {
			t.Errorf("the tapes lack %s", w)
		}
	}
}
