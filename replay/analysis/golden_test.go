package analysis_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
)

// What explain says of three scenarios and of the recordings, as text and as JSON.
func TestAnalyses(t *testing.T) {
	for _, tp := range append(recordings(t), simulated("stuck-drain"), simulated("surge"), simulated("spot-loss"), simulated("karpenter-drift")) {
		t.Run(tp.name, func(t *testing.T) {
			a := tp.analyse(t, false)
			golden.Assert(t, tp.name, text(t, a))
			var b bytes.Buffer
			if err := json.Indent(&b, a.AppendJSON(nil), "", " "); err != nil {
				t.Fatal(err)
			}
			if tp.name == "stuck-drain" || tp.name == "recorded-surge" {
				golden.Assert(t, tp.name+"-json", b.String()+"\n")
			}
		})
	}
}

// The first line of a stuck drain says which budget held which pods for how long.
func TestAStuckDrainBeginsWithItsBudget(t *testing.T) {
	for _, tp := range append(recordings(t)[1:3], simulated("stuck-drain")) {
		first, _, _ := strings.Cut(text(t, tp.analyse(t, false)), "\n")
		if !strings.HasPrefix(first, "PodDisruptionBudget ") || !strings.Contains(first, " held ") || !strings.Contains(first, "it allows no disruption (needs ") {
			t.Errorf("%s begins with %q", tp.name, first)
		}
	}
}
