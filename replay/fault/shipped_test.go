package fault_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// The ready-made patterns find something to do on every tape of a roll that we ship,
// without a parameter. Where pods are updated in place no node turns, and the two
// that are about nodes that do have nothing to hide.
func TestSieveOnEveryScenario(t *testing.T) {
	kinds := []string{"stale", "unobserved", "intermediate"}
	for _, s := range scenarios.All() {
		if s.Name == "empty" { // nothing happens on its tape
			continue
		}
		h, err := s.Header()
		if err != nil {
			t.Fatal(err)
		}
		fired := map[string]int{}
		end(t, s.Source(nil, nil), func(f fault.Fired) { fired[f.Spec.Kind]++ }, kinds...)
		for _, kind := range kinds {
			if wanted := h.Scope.Pods == "" || kind == "intermediate"; wanted != (fired[kind] > 0) {
				t.Errorf("%s: %s fires %d times: want some, %v", s.Name, kind, fired[kind], wanted)
			}
		}
	}
}

// end plays a tape to its end.
func end(t *testing.T, src timeline.Source, log func(fault.Fired), specs ...string) {
	t.Helper()
	p, err := replay.NewPlayer(src, fault.InjectAndLog(log, specs...))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Seek(t.Context(), replay.End); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// when= sees what the verbose feed of the tape tells, at the same positions.
func TestWhenSeesTheFeed(t *testing.T) {
	for _, name := range []string{"surge", "stuck-drain", "node-flap"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		tape, err := s.Open(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := observe.OptionsFor(tape.Header(), "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		o.Verbose = true
		var want, got, specs []string
		states := []string{"joining", "online", "draining", "notready", "terminated", "evicted", "blocked", "unblocked", "warning"}
		if err := observe.Feed(tape, o, func(e noderoll.Entry) error {
			if slices.Contains(states, string(e.Kind)) {
				want = append(want, fmt.Sprintf("%s %s", e.At, e.Kind))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, state := range states {
			specs = append(specs, "close:pods,when=node:*:"+state)
		}
		end(t, s.Source(nil, nil), func(f fault.Fired) { got = append(got, fmt.Sprintf("%s %s", f.At, f.Spec.When.State)) }, specs...)
		if d := cmp.Diff(want, got); d != "" || len(want) < 5 {
			t.Errorf("%s, %d entries (-feed +fired):\n%s", name, len(want), d)
		}
		if err := tape.Close(); err != nil {
			t.Error(err)
		}
	}
}
