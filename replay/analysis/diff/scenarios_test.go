package diff_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/analysis/diff"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// analysed is a shipped scenario with other values, analysed.
func analysed(t *testing.T, name string, seed uint64, set ...spec.Setting) *analysis.Analysis {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(set, &seed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.Tape(r, analysis.Options{Options: o, Series: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPairsOfScenarios(t *testing.T) {
	for _, c := range []struct {
		name, scenario string
		set            spec.Setting
		headline       string
	}{
		{"stuck-drain force", "stuck-drain", spec.Setting{Name: "force", Value: "true"}, "PodDisruptionBudget/shop/web"},
		{"stuck-drain evictionTimeout", "stuck-drain", spec.Setting{Name: "evictionTimeout", Value: "5m"}, "PodDisruptionBudget/shop/web"},
		{"surge minAvailable", "surge", spec.Setting{Name: "minAvailable", Value: "12"}, "PodDisruptionBudget/"},
		{"spot-loss handler", "spot-loss", spec.Setting{Name: "handler", Value: "none"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := analysed(t, c.scenario, 1), analysed(t, c.scenario, 1, c.set)
			d := diff.Of(a, b)
			var text strings.Builder
			if err := d.Text(&text); err != nil {
				t.Fatal(err)
			}
			golden.Assert(t, strings.ReplaceAll(c.name, " ", "-"), text.String())
			if !strings.Contains(d.Headline(), c.headline) {
				t.Errorf("the first line is %q: want it to name %q", d.Headline(), c.headline)
			}
			if again := diff.Of(a, a); len(again.Rows) != 0 {
				t.Errorf("a roll differs from itself: %+v", again.Rows)
			}
		})
	}
}

// TestSeedsNameNodesOtherwise has the same roll with machines of other names: only what chance decides may differ, no node may
// be without its like.
func TestSeedsNameNodesOtherwise(t *testing.T) {
	d := diff.Of(analysed(t, "surge", 1), analysed(t, "surge", 2))
	for _, r := range d.Rows {
		if r.Scope == diff.ScopeNode && (r.A == nil) != (r.B == nil) {
			t.Errorf("%s: %s is %s in A and %s in B: want both", r.Object, r.Measure, r.A, r.B)
		}
	}
}
