package daemon_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/recorder/store"
)

// Two replicas that end in the same second, in the middle of the rolls of two groups, make four tapes, and a store takes all of them. It has them
// beside those of the names that earlier versions gave.
func TestInterruptedInOneSecond(t *testing.T) {
	a, c := cluster(t), clocktesting.NewFakeClock(start)
	var replicas [2]*running
	for i := range replicas {
		o := options(a, t.TempDir())
		o.FinishOnStop = true
		replicas[i] = run(t, o, c)
		replicas[i].recording()
	}
	a.node("MODIFIED", "a-1", `"unschedulable":true`)
	a.node("MODIFIED", "b-1", `"unschedulable":true`)
	var events [2]int
	for i, r := range replicas {
		r.until("two rolls", func() bool { return len(r.Stats().Open) == 2 })
		r.wait("the events", func() bool { return r.Stats().Events >= 12 })
		events[i] = r.Stats().Events
	}
	a.pod("MODIFIED", "on-a-1", "a-1") // what both see at one moment is the end of their tapes
	for i, r := range replicas {
		r.wait("the event", func() bool { return r.Stats().Events > events[i] })
	}
	s, err := store.Open(t.Context(), "file://"+filepath.ToSlash(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	until := "-until-" + c.Now().UTC().Format("20060102t150405z")
	want := map[string]bool{}
	put := func(tape store.Tape, file string) {
		t.Helper()
		want[tape.Name] = true
		if err := s.Put(t.Context(), tape, func() (io.ReadCloser, error) { return os.Open(file) }); err != nil {
			t.Error(err)
		}
	}
	for _, r := range replicas {
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
		if len(r.tapes) != 2 {
			t.Fatalf("found the tapes %+v, want those of two groups", r.tapes)
		}
		for i, tape := range r.tapes {
			if !strings.Contains(tape.Name, until) {
				t.Fatalf("found the name %s, want one with %s: the test shows nothing", tape.Name, until)
			}
			put(tape, r.files[i])
		}
	}
	old := replicas[0].tapes[0]
	old.Name = old.Name[:strings.Index(old.Name, until)+len(until)]
	put(old, replicas[0].files[0])
	found, skipped, err := s.List(t.Context(), store.Query{Outcome: "interrupted"})
	if err != nil || len(skipped) > 0 || len(found) != 5 || len(want) != 5 {
		t.Fatalf("found %d tapes of %d names, %v, %v, want 5", len(found), len(want), skipped, err)
	}
	for _, tape := range found {
		if !want[tape.Name] {
			t.Errorf("found %s, want one of %v", tape.Name, want)
		}
		if err := s.Get(t.Context(), tape, io.Discard); err != nil { // against its checksum
			t.Error(err)
		}
	}
}

// A finished tape is never replaced by another one of its name: both are kept, and the log says so.
func TestNameThatIsTaken(t *testing.T) {
	dir := t.TempDir()
	sums := map[string]string{} // by the names of tapes
	for i := range 3 {
		a := cluster(t)
		r := run(t, options(a, dir), clocktesting.NewFakeClock(start.Add(time.Duration(i)*time.Hour)))
		r.recording()
		// The name is by the time that the object says, and by its version: all three have the same.
		const tainted = `"taints":[{"key":"karpenter.sh/disrupted","effect":"NoSchedule","timeAdded":"2026-11-20T22:00:00Z"}]`
		a.node("MODIFIED", "a-1", tainted)
		r.until("the roll", func() bool { return len(r.Stats().Open) == 1 })
		a.node("DELETED", "a-1", tainted)
		tape := r.finished(1)[0]
		sums[tape.Name] = tape.SHA256
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
		if told := strings.Count(fmt.Sprint(r.logs), "a tape of that name is there"); told != i {
			t.Errorf("recorder %d: found %d warnings, want %d; log:\n%s", i, told, i, strings.Join(r.logs, "\n"))
		}
		if err := os.RemoveAll(filepath.Join(dir, "history")); err != nil {
			t.Fatal(err)
		}
	}
	tapes, err := store.Finished(filepath.Join(dir, "tapes"))
	if err != nil || len(tapes) != 3 || len(sums) != 3 {
		t.Fatalf("found %d tapes, %v, of the names %v; want three", len(tapes), err, sums)
	}
	for _, tape := range tapes {
		_, sum, err := atomicfile.Sum(filepath.Join(dir, "tapes", tape.File()))
		if err != nil || sum != tape.SHA256 || sum != sums[tape.Name] {
			t.Errorf("%s: found the checksum %s, %v, want %s as it was made", tape.Name, sum, err, sums[tape.Name])
		}
	}
}
