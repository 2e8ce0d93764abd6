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
			held := ""
			for _, b := range a.Budgets {
				if b.Held > 20*time.Second {
					held = "PodDisruptionBudget/" + b.Namespace + "/" + b.Name
				}
			}
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
