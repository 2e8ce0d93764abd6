package plan_test

import (
	"runtime"
	"testing"

	"github.com/nodesim/nodesim/scenarios/plan"
)

// A hundred nodes with 3,000 pods: what one run costs, of the 200 that a plan has, with all processors at work.
func BenchmarkPlan(b *testing.B) {
	for _, events := range []string{"false", "true"} {
		b.Run("events="+events, func(b *testing.B) {
			f := shipped(b, "percentage", "nodes=100", "pods=3000", "events="+events)
			runs := runtime.GOMAXPROCS(0) * 4
			for b.Loop() {
				planned(b, f, plan.Options{Runs: runs, Parallel: runtime.GOMAXPROCS(0)})
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*runs), "s/run")
		})
	}
}
