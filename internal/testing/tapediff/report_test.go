package tapediff_test

import (
	"fmt"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { golden.Main(m) }

// The whole text of a report, with a difference of each kind and an excluded Event.
func TestReportText(t *testing.T) {
	nodes := changed(t, "nodes", func(ev timeline.Event, o object) {
		o.at("spec").each("taints", func(taint object) {
			if taint["effect"] == "NoExecute" {
				taint["effect"] = "NoSchedule"
			}
		})
	})
	pods := changed(t, "pods", func(ev timeline.Event, o object) {
		o.at("status").each("conditions", func(c object) {
			if c["type"] == "DisruptionTarget" {
				c["message"] = "gone\x1b[31m"
			}
		})
	})
	damaged := edited(t, "spot-vanish", func(ev timeline.Event) []timeline.Event { return pods(nodes(ev)[0]) })
	report := compare(t, tape(t, "spot-vanish"), damaged, tapediff.Options{
		NameA: "real", NameB: "simulated",
		Exclude: []tapediff.Exclusion{{Kind: "Node", Reason: "RemovingNode", Component: "node-controller", Source: "an example"}},
	})
	golden.Assert(t, "report", report.String())
}

func ExampleReport_Summary() {
	r := tapediff.Report{NameA: "recorded", NameB: "simulated", Nodes: 6, Pods: 48, Budgets: 1, Others: 2, Alike: 430, Cut: 3}
	fmt.Println(r.Summary())
	// Output:
	// recorded and simulated: compared 6 nodes, 48 pods, 1 budgets and 2 other objects: 430 steps are alike; not compared: 0 excluded by 0 rows, 3 after a tape's end, 0 Events from before; no difference
}
