package plan_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/app/analyse"
	app "github.com/nodesim/nodesim/internal/app/plan"
	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// The recordings of a real control plane, planned from their first moment: where a budget held up drains to their end on the tape, the
// plan says that it will, and with force the plan's roll ends as the recorded one did. The recorded drains had some twenty seconds.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) != 4 {
		t.Fatalf("found %d recordings, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			a, err := analyse.File(file, nil, analyse.Pods{}, false)
			if err != nil {
				t.Fatal(err)
			}
			held := heldUp(a, 20*time.Second)
			f, err := app.Cluster(t.Context(), snapshot.Source{File: file})
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Of(t.Context(), f, plan.Options{Runs: 10, Parallel: 2})
			if err != nil {
				t.Fatal(err)
			}
			if stuck := p.Ends < p.Runs; stuck != (held != "") || stuck && p.Blocks[0].Object != held {
				t.Errorf("on the tape %q holds up the roll; planned: %d of %d runs end, blocked by %+v", held, p.Ends, p.Runs, p.Blocks)
			}
			if held == "" || a.Rolls[0].Outcome != analysis.Complete {
				return
			}
			forced, err := plan.Of(t.Context(), f, plan.Options{Runs: 10, Roll: []spec.Setting{{Name: "force", Value: "true"}}})
			if err != nil {
				t.Fatal(err)
			}
			if forced.Ends != forced.Runs || forced.Blocks[0].Object != held {
				t.Errorf("with force %d of %d runs end, blocked by %+v", forced.Ends, forced.Runs, forced.Blocks)
			}
		})
	}
}

// Recordings of kwok's nodes, made without nodesim, planned at the moment before a node was touched. A budget held up each drain of
// the one for some seconds; the other has no roll, and a node that was lost.
func TestRecordingsOfOthers(t *testing.T) {
	for _, c := range []struct {
		file     string
		at       time.Duration
		replaced int
		held     string
	}{
		{"testdata/kwok-surge.yaml.gz", 12 * time.Second, 3, "PodDisruptionBudget/default/web"},
		{"testdata/kwok-spot-vanish.yaml.gz", 0, 0, ""},
	} {
		a, err := analyse.File(c.file, nil, analyse.Pods{}, false)
		if err != nil {
			t.Fatal(err)
		}
		replaced, held := 0, heldUp(a, 10*time.Second)
		for _, r := range a.Rolls {
			if r.Outcome != analysis.Complete {
				t.Errorf("%s: the roll on the tape is %s", c.file, r.Outcome)
			}
			replaced += r.Replaced
		}
		if replaced != c.replaced || held != c.held {
			t.Errorf("%s: on the tape %d nodes were replaced, held up by %q: want %d and %q", c.file, replaced, held, c.replaced, c.held)
		}
		f, err := app.Cluster(t.Context(), snapshot.Source{File: c.file, At: c.at})
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Of(t.Context(), f, plan.Options{Runs: 20, Parallel: 2})
		if err != nil {
			t.Fatal(err)
		}
		if p.Ends != p.Runs || len(p.WontRun) != 0 {
			t.Errorf("%s: %d of %d runs end, %+v won't run: want all to end with every pod", c.file, p.Ends, p.Runs, p.WontRun)
		}
		if p.Nodes != 3 {
			t.Errorf("%s: the plan replaces %d nodes: want the tape's three", c.file, p.Nodes)
		}
		if c.held != "" && (len(p.Blocks) != 1 || p.Blocks[0].Object != c.held || p.Blocks[0].Stops != 0 || p.Blocks[0].Runs < p.Runs*3/4) {
			t.Errorf("%s: planned to be held up by %+v: want %s in most runs, and never for good", c.file, p.Blocks, c.held)
		}
	}
}

// heldUp is the last budget that held up drains for longer than a time, "" where none did.
func heldUp(a *analysis.Analysis, least time.Duration) (held string) {
	for _, b := range a.Budgets {
		if b.Held > least {
			held = "PodDisruptionBudget/" + b.Namespace + "/" + b.Name
		}
	}
	return held
}
