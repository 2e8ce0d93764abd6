package plan_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/calibrate"
	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// script is what no tape tells of the recordings below examples: how they were made (cmd/nodesim/app/examples_controlplane_test.go). A script
// creates the Node of a machine that boots in no time, pauses for two seconds between its steps, tries again after a second, and
// deletes the Node.
const script = `apiVersion: nodesim.dev/v1
kind: Timings
timings: {capacityRequest: 2s, boot: 1ms, register: 1ms, terminate: 1ms, evictionRetry: 1s}
`

func recording(name string) string { return filepath.Join("..", "..", "examples", name+".yaml") }

// rolls are the recordings of rolls; the fourth one, spot-vanish, has none to plan.
var rolls = []string{"surge", "stuck-drain", "stuck-drain-force"}

// measuredOn is what the recordings of the other rolls say of the timings.
func measuredOn(t *testing.T, others ...string) *spec.Measured {
	t.Helper()
	var c calibrate.Calibration
	for _, name := range others {
		r, err := timeline.Open(recording(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Read(name, r); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
	}
	text, err := c.Result().File()
	if err != nil {
		t.Fatal(err)
	}
	return timingsOf(t, string(text))
}

func timingsOf(t *testing.T, text string) *spec.Measured {
	t.Helper()
	m, err := spec.ParseTimings("timings.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// atFirst is the cluster of a recording at its first moment, with timings that were measured on the others.
func atFirst(t *testing.T, name string) *scenarios.File {
	t.Helper()
	f, err := snapshot.Read(t.Context(), snapshot.Source{File: recording(name)})
	if err != nil {
		t.Fatal(err)
	}
	others := slices.DeleteFunc(slices.Clone(rolls), func(other string) bool { return other == name })
	return &scenarios.File{File: *f.Calibrated(timingsOf(t, script)).Calibrated(measuredOn(t, others...))}
}

// The recordings of rolls, planned from their first moment and held against what happened. In surge, the script puts each new node
// into the zone of the node that it replaces next, whereas the plan's roller replaces any: so pods are spread less evenly
// meanwhile, and the plan's drains are longer.
func TestForecastOfRecordings(t *testing.T) {
	const runs = 100
	for _, c := range []struct {
		name, force string
		ends        bool
		budget      string
		nodes       int // that it held up
	}{
		{"surge", "false", true, "PodDisruptionBudget/default/web", 3},
		{"stuck-drain", "false", false, "PodDisruptionBudget/default/workers", 1},
		{"stuck-drain-force", "true", true, "PodDisruptionBudget/default/batch", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := atFirst(t, c.name)
			o := plan.Options{Runs: 1, Roll: []spec.Setting{
				{Name: "strategy", Value: "plain"}, {Name: "force", Value: c.force}, {Name: "evictionTimeout", Value: "20s"}, {Name: "settleAfterDrain", Value: "2s"},
			}}
			var took []time.Duration
			for seed := range uint64(runs) {
				o.Seed = &seed
				p, err := plan.Of(t.Context(), file, o)
				if err != nil {
					t.Fatal(err)
				}
				if p.Holds() != c.ends {
					t.Fatalf("seed %d: the roll ends: %t, want %t", seed, p.Holds(), c.ends)
				}
				if len(p.Blocks) != 1 || p.Blocks[0].Object != c.budget || p.Blocks[0].Nodes != c.nodes {
					t.Errorf("seed %d: held up by %+v, want %s on %d nodes alone", seed, p.Blocks, c.budget, c.nodes)
				}
				if c.ends {
					took = append(took, time.Duration(p.Duration.P50))
				}
			}
			real, err := analyse.File(recording(c.name), nil, analyse.Pods{}, false)
			if err != nil {
				t.Fatal(err)
			}
			if b := real.Budgets[0]; len(b.HeldNodes) != c.nodes {
				t.Errorf("in the recording the budget held up %d nodes, want %d", len(b.HeldNodes), c.nodes)
			}
			if !c.ends {
				return
			}
			slices.Sort(took)
			is, p5, p50, p95 := lasted(real), took[runs/20], took[runs/2], took[runs-runs/20]
			t.Logf("the roll took %s; planned: %s to %s, in the middle %s", is, p5, p95, p50)
			if is < p50*4/5 || is > p50*6/5 {
				t.Errorf("the roll took %s, want it within a fifth of the plan's %s", is, p50)
			}
		})
	}
}

func lasted(a *analysis.Analysis) time.Duration { return a.Rolls[0].End.At - a.Rolls[0].Start.At }

// A plan says which durations are measured, on how many samples, and which its scenario states.
func TestPlanSaysWhatIsMeasured(t *testing.T) {
	file := atFirst(t, "surge")
	file.Timings = append(file.Timings, spec.Timing{Name: "scaleDownStep", Dist: spec.Dist{Kind: spec.DistFixed}})
	p, err := plan.Of(t.Context(), file, plan.Options{Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Measured{{Name: "becomeReady", Samples: 3}, {Name: "containerReady", Samples: 8}, {Name: "appStop", Samples: 8}, {Name: "controllerReact", Samples: 2}, {Name: "conditionTaint", Samples: 3}, {Name: "rollerPoll", Samples: 3}}
	if !slices.Equal(p.Timings.Measured, want) {
		t.Errorf("measured are %+v, want %+v", p.Timings.Measured, want)
	}
	if !slices.Contains(p.Timings.Stated, "scaleDownStep") || slices.Contains(p.Timings.Stated, "becomeReady") || slices.Contains(p.Timings.Estimates, "boot") {
		t.Errorf("stated are %v, estimates %v", p.Timings.Stated, p.Timings.Estimates)
	}
}
