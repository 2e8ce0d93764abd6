package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a live run shows is held against what the runs said, both ways.
func TestHoldAgainstALiveRun(t *testing.T) {
	p := &Plan{
		Runs: 100, Ends: 100, Within: &Within{P5: Duration(10 * time.Minute), P95: Duration(20 * time.Minute)},
		Blocks:  []Block{{Object: "PodDisruptionBudget/shop/web", Runs: 100}, {Object: "PodDisruptionBudget/shop/db", Runs: 50}, {Object: "Deployment/shop/slow", Runs: 99}, {Object: "PodDisruptionBudget/shop/often", Runs: 91}},
		WontRun: []WontRun{{Workload: "Deployment/shop/big", Runs: 100, Pods: 2, Message: "0/3 nodes are available"}, {Workload: "Deployment/shop/some", Runs: 10, Pods: 1}},
	}
	for _, c := range []struct {
		name    string
		slowest time.Duration
		is      outcome
		differs []string
	}{
		{"as planned", 0, outcome{ended: true, took: 15 * time.Minute, blocks: []blocked{{object: "PodDisruptionBudget/shop/web"}, {object: "Deployment/shop/slow"}}, unready: []unready{{workload: "Deployment/shop/big"}}}, nil},
		{"as in half of the runs", 0, outcome{ended: true, took: 20 * time.Minute, blocks: []blocked{{object: "PodDisruptionBudget/shop/web"}, {object: "PodDisruptionBudget/shop/db"}, {object: "Deployment/shop/slow"}}, unready: []unready{{workload: "Deployment/shop/big"}, {workload: "Deployment/shop/some"}}}, nil},
		{"nothing holds it up, and it is quick", 0, outcome{ended: true, took: 9 * time.Minute}, []string{"duration", "PodDisruptionBudget/shop/web", "Deployment/shop/slow", "Deployment/shop/big"}},
		{"something else does, and it never ends", 0, outcome{blocks: []blocked{{object: "PodDisruptionBudget/shop/web"}, {object: "Deployment/shop/slow"}, {kind: "budget-held", object: "PodDisruptionBudget/shop/other", held: time.Minute}}, unready: []unready{{workload: "Deployment/shop/big"}, {workload: "Job/shop/once"}}},
			[]string{"ends by itself", "PodDisruptionBudget/shop/other", "Job/shop/once"}},
		{"the machine makes it slow", time.Second, outcome{ended: true, took: 21 * time.Minute, blocks: []blocked{
			{object: "PodDisruptionBudget/shop/web"}, {object: "Deployment/shop/slow"}, {kind: "slow-grace", object: "Deployment/shop/web", held: 119 * time.Second}, {kind: "budget-held", object: "PodDisruptionBudget/shop/other", held: 69 * time.Second},
		}, unready: []unready{{workload: "Deployment/shop/big"}}}, nil},
		{"the machine doesn't make it as slow", time.Second, outcome{ended: true, took: 21*time.Minute + time.Second, blocks: []blocked{
			{object: "PodDisruptionBudget/shop/web"}, {object: "Deployment/shop/slow"}, {kind: "slow-grace", object: "Deployment/shop/web", held: 2 * time.Minute}, {kind: "slow-grace", object: "Deployment/shop/late", held: 119 * time.Second}, {kind: "budget-held", object: "PodDisruptionBudget/shop/other", held: 70 * time.Second}, {object: "Deployment/shop/stuck", stops: true},
		}, unready: []unready{{workload: "Deployment/shop/big"}}}, []string{"duration", "Deployment/shop/web", "PodDisruptionBudget/shop/other", "Deployment/shop/stuck"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := p.compare(&c.is, LiveRun{Speed: 20, Slowest: c.slowest})
			var differs []string
			unclear := 0
			for _, check := range l.Checks {
				if check.Differs() {
					differs = append(differs, check.What)
				}
				if check.Unclear {
					unclear++
				}
			}
			if d := cmp.Diff(c.differs, differs); d != "" {
				t.Errorf("what differs (-want +got):\n%s", d)
			}
			if c.slowest > 0 != (unclear > 0 && strings.Contains(l.headline(), "lower --live-speed") == l.Agrees()) {
				t.Errorf("found %d unclear checks, and %q", unclear, l.headline())
			}
			if l.Agrees() != (len(c.differs) == 0) {
				t.Errorf("it agrees: %t", l.Agrees())
			}
		})
	}
}
