package daemon_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/timeline"
)

// syncsLate is a clock by which a recorder brings lines to the disk once an hour.
type syncsLate struct{ *clocktesting.FakeClock }

func (c syncsLate) NewTicker(d time.Duration) clock.Ticker {
	if d < time.Second {
		d = time.Hour
	}
	return c.FakeClock.NewTicker(d)
}

// A daemon that is killed as soon as a part of a roll has its tape makes no other tape of that name, which a store would refuse.
func TestKilledAfterPart(t *testing.T) {
	a, dir, next := cluster(t), t.TempDir(), t.TempDir()
	o := options(a, dir)
	o.MaxAge = 3 * time.Minute
	var once sync.Once
	o.Finished = func(store.Tape, string) {
		once.Do(func() {
			if err := os.CopyFS(next, os.DirFS(dir)); err != nil {
				t.Error(err)
			}
		})
	}
	c := clocktesting.NewFakeClock(start)
	o.Clock = syncsLate{c}
	r := run(t, o, c)
	r.recording()
	a.node("MODIFIED", "a-1", `"unschedulable":true`)
	first := r.finished(1)[0]
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	o.Dir, o.Finished = next, nil
	again := run(t, o, c)
	again.recording()
	rv := a.node("MODIFIED", "a-2", `"unschedulable":true`)
	again.until("the event on a tape", func() bool {
		return read(t, again.paths()...).versions[fmt.Sprintf("nodes a-2 %d", rv)]
	})
	for _, tape := range again.finished(1) {
		if tape.Name == first.Name && tape.SHA256 != first.SHA256 {
			t.Errorf("found %s again, with %d events after %d", tape.Name, tape.Events, first.Events)
		}
	}
}

// A daemon that is killed goes on where its files end: each event of the roll is on its tape, or a gap is, wherever the files were cut.
func TestKilled(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { killed(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func killed(t *testing.T, rng *rand.Rand) {
	a, dir := cluster(t), t.TempDir()
	o := options(a, dir)
	o.MaxAge = time.Duration(1+rng.IntN(10)) * time.Minute
	c := clocktesting.NewFakeClock(start)
	r := run(t, o, c)
	r.recording()
	want, forgot := map[string]bool{}, 0
	var files []string
	for i := range 60 {
		n, before := 1+rng.IntN(2), r.Stats().Events
		rv := a.node("MODIFIED", fmt.Sprintf("a-%d", n), `"unschedulable":`+strconv.FormatBool(i%3 > 0 || i == 0))
		want[fmt.Sprintf("nodes a-%d %d", n, rv)] = true
		for range rng.IntN(15) {
			c.Step(time.Second)
		}
		if rng.IntN(3) > 0 {
			r.until("the event", func() bool { return r.Stats().Events > before })
		}
		if rng.IntN(12) > 0 {
			continue
		}
		next := snapshot(t, dir, rng)
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
		files = append(files, slices.DeleteFunc(r.paths(), func(f string) bool {
			_, err := os.Stat(filepath.Join(next, "tapes", filepath.Base(f)))
			return err != nil // it wasn't there yet
		})...)
		if rng.IntN(3) == 0 {
			a.forget()
			forgot++
		}
		dir, o.Dir = next, next
		r = run(t, o, c)
		r.recording()
	}
	last := ""
	for i := range 2 {
		last = fmt.Sprintf("nodes a-%d %d", 1+i, a.node("MODIFIED", fmt.Sprintf("a-%d", 1+i), ""))
		want[last] = true
	}
	seen, steps := 0, 0
	r.until("the last event on a tape", func() bool {
		if steps++; steps%150 == 0 { // it may have come after its roll, and is then part of what led to the next one
			a.node("MODIFIED", "a-1", fmt.Sprintf(`"unschedulable":%t`, steps%300 > 0))
		}
		for files := r.paths(); seen < len(files); seen++ {
			if read(t, files[seen]).versions[last] {
				return true
			}
		}
		return false
	})
	got := read(t, append(files, r.paths()...)...)
	var lacks []string
	for _, w := range slices.Sorted(maps.Keys(want)) {
		if !got.versions[w] {
			lacks = append(lacks, w)
		}
	}
	if len(lacks) > 0 && (got.gaps == 0 || forgot == 0) {
		t.Errorf("the tapes lack %q of %d events, with %d gaps; the server forgot %d times\n%s", lacks, len(want), got.gaps, forgot, strings.Join(r.logs, "\n"))
	}
}

// snapshot is the folder as it is after a kill: a copy, with the file that is being written cut anywhere.
func snapshot(t *testing.T, dir string, rng *rand.Rand) string {
	t.Helper()
	to := t.TempDir()
	for _, sub := range []string{"history", "tapes"} {
		if err := os.MkdirAll(filepath.Join(to, sub), 0o755); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, sub, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			text, err := os.ReadFile(f)
			if errors.Is(err, os.ErrNotExist) {
				continue // it went meanwhile
			}
			if err != nil {
				t.Fatal(err)
			}
			if sub == "history" && i == len(files)-1 {
				cut := text[:len(text)-rng.IntN(min(len(text), 400)+1)]
				// What the first piece begins with was on the disk before anything else was written.
				if i > 0 || bytes.Count(lines(cut), []byte(`"SYNC"`)) > 1 {
					text = cut
				}
			}
			if err := os.WriteFile(filepath.Join(to, sub, filepath.Base(f)), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return to
}

// lines are what can be read of a tape's.
func lines(tape []byte) []byte {
	var text bytes.Buffer
	if r, err := timeline.NewReader(bytes.NewReader(tape), timeline.Lines()); err == nil {
		for ev, err := range r.All() {
			if err != nil {
				break
			}
			fmt.Fprintf(&text, "%q\n", ev.Type)
		}
	}
	return text.Bytes()
}
