package scenarios_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/scenarios"
)

// simulatedScenarios are the scenarios that have a file.
func simulatedScenarios() []scenarios.Scenario {
	return where(scenarios.All(), func(s scenarios.Scenario) bool { return s.Document != nil })
}

// The same scenario gives the same bytes: on a second run, with one processor and
// with two, under the race detector, and on every architecture, which is what the
// golden file is for.
func TestTapesAreTheSame(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var sums strings.Builder
	for _, s := range simulatedScenarios() {
		first := tapeOf(t, s.Name).text
		for _, processors := range []int{1, 2} {
			runtime.GOMAXPROCS(processors)
			again, err := makeTape(s.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(first, again.text) {
				t.Errorf("scenario %s with GOMAXPROCS %d: the tape differs from another run's at byte %d", s.Name, processors, differs(first, again.text))
			}
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(first), s.Name)
	}
	golden.Assert(t, "tapes.sha256", sums.String())
}

// differs is the first byte in which two texts differ.
func differs(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Every scenario ends by itself with its defaults, long before its time limit.
func TestScenariosEnd(t *testing.T) {
	t.Parallel()
	for _, one := range simulatedScenarios() {
		f, err := one.Document.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		tape := tapeOf(t, one.Name)
		for _, m := range tape.marks {
			if m.Name == "time limit" {
				t.Errorf("%s: mark %q at %s: %s: want a scenario that ends", one.Name, m.Name, m.At, m.Reason)
			}
		}
		if most := f.TimeLimit * 9 / 10; tape.end > most {
			t.Errorf("%s: end of the tape: found %s, want at most %s", one.Name, tape.end, most)
		}
		rolls := 0
		if f.Roll != nil {
			rolls = len(f.Roll.Groups)
			if f.Roll.Workload != "" {
				rolls = 1
			}
		}
		if len(tape.outcomes) != rolls {
			t.Errorf("%s: rolls that have ended: found %d, want %d", one.Name, len(tape.outcomes), rolls)
		}
		if text := one.Document.Metadata.Description; len(text) < 200 {
			t.Errorf("%s: metadata.description: found %d bytes, want a paragraph that says what happens", one.Name, len(text))
		}
	}
}
