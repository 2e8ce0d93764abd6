package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a live run shows is held against what the runs said, both ways.
func TestHoldAgainstALiveRun(t *testing.T) {
	web, db := "PodDisruptionBudget/shop/web", "PodDisruptionBudget/shop/db"
	p := &Plan{
		Runs: 100, Ends: 100, Within: &Within{P5: Duration(10 * time.Minute), P95: Duration(20 * time.Minute)},
		Blocks: []Block{
			{Kind: "budget-held", Object: web, Runs: 100, onNodes: counts{100, 2, 3}, onNode: map[string]int{"one": 100, "two": 80, "three": 60}}, {Kind: "budget-held", Object: db, Runs: 50, onNodes: counts{50, 1, 1}},
			{Kind: "slow-grace", Object: "Deployment/shop/slow", Runs: 99}, {Kind: "budget-held", Object: "PodDisruptionBudget/shop/often", Runs: 91},
		},
		WontRun: []WontRun{
			{Workload: "Deployment/shop/big", Runs: 60, Pods: 2, Message: "0/3 nodes are available"}, {Workload: "Deployment/shop/big", Runs: 40, Pods: 1},
			{Workload: "Deployment/shop/some", Runs: 10, Pods: 1},
		},
		took:    []time.Duration{19 * time.Minute, 15 * time.Minute, 12 * time.Minute, 10 * time.Minute},
		unready: map[string]counts{"Deployment/shop/big": {100, 2, 2}, "Deployment/shop/some": {10, 1, 1}},
	}
	held, slow := blocked{kind: "budget-held", object: web, nodes: []string{"one", "two"}}, blocked{kind: "slow-grace", object: "Deployment/shop/slow"}
	big := unready{workload: "Deployment/shop/big", pods: 2}
	on := func(stops bool, nodes ...string) []blocked {
		return []blocked{{kind: "budget-held", object: web, nodes: nodes, stops: stops}, slow}
	}
	for _, c := range []struct {
		name    string
		slowest time.Duration
		is      outcome
		differs []string
	}{
		{"as planned", 0, outcome{ended: true, took: 15 * time.Minute, blocks: []blocked{held, slow}, unready: []unready{big}}, nil},
		{"as in half of the runs", 0, outcome{ended: true, took: 20 * time.Minute, blocks: []blocked{held, {kind: "budget-held", object: db, nodes: []string{"one", "two"}}, slow},
			unready: []unready{{workload: "Deployment/shop/big", pods: 1}, {workload: "Deployment/shop/big", reason: "other", pods: 1}, {workload: "Deployment/shop/some", pods: 2}}}, nil},
		{"nothing holds it up, and it is quick", 0, outcome{ended: true, took: 9 * time.Minute}, []string{"duration", web, "Deployment/shop/slow", "Deployment/shop/big"}},
		{"something else does, and it never ends", 0, outcome{blocks: []blocked{held, slow, {kind: "budget-held", object: "PodDisruptionBudget/shop/other", held: time.Minute}}, unready: []unready{big, {workload: "Job/shop/once"}}},
			[]string{"ends by itself", "PodDisruptionBudget/shop/other", "Job/shop/once"}},
		{"the same for another reason", 0, outcome{ended: true, took: 15 * time.Minute, blocks: []blocked{held, {kind: "image-pull", object: slow.object, held: 5 * time.Minute}}, unready: []unready{big}}, []string{slow.object, slow.object}},
		{"on fewer nodes", 0, outcome{ended: true, took: 15 * time.Minute, blocks: on(false, "one"), unready: []unready{big}}, []string{web}},
		{"on more nodes", 0, outcome{ended: true, took: 15 * time.Minute, blocks: on(false, "one", "two", "three", "new"), unready: []unready{big}}, []string{web}},
		{"on more nodes, by the machine", time.Second, outcome{ended: true, took: 15 * time.Minute, blocks: on(false, "one", "two", "three", "new"), unready: []unready{big}}, nil},
		{"more nodes are stuck", time.Millisecond, outcome{ended: true, took: 20*time.Minute + 1, blocks: on(true, "one", "two", "three", "new"), unready: []unready{big}}, []string{web}},
		{"on other nodes that some runs have", 0, outcome{ended: true, took: 15 * time.Minute, blocks: on(false, "one", "three", "new"), unready: []unready{big}}, nil},
		{"on a node of no run", 0, outcome{ended: true, took: 15 * time.Minute, blocks: on(false, "one", "two", "four"), unready: []unready{big}}, []string{web}},
		{"not on the node of each run", 0, outcome{ended: true, took: 15 * time.Minute, blocks: on(false, "two", "three"), unready: []unready{big}}, []string{web}},
		{"not on the node of each run, by the machine", time.Second, outcome{ended: true, took: 15 * time.Minute, blocks: on(false, "two", "three"), unready: []unready{big}}, nil},
		{"fewer pods don't run", 0, outcome{ended: true, took: 15 * time.Minute, blocks: []blocked{held, slow}, unready: []unready{{workload: big.workload, pods: 1}}}, []string{big.workload}},
		{"more pods don't run", 0, outcome{ended: true, took: 15 * time.Minute, blocks: []blocked{held, slow}, unready: []unready{big, {workload: big.workload, reason: "other", pods: 1}}}, []string{big.workload}},
		{"the machine makes it slow", time.Second, outcome{ended: true, took: 21 * time.Minute, blocks: []blocked{
			held, slow, {kind: "slow-grace", object: "Deployment/shop/web", held: 119 * time.Second}, {kind: "budget-held", object: "PodDisruptionBudget/shop/other", held: 69 * time.Second},
			{kind: "image-pull", object: "Deployment/shop/pulled", held: 239 * time.Second, waits: 3},
		}, unready: []unready{big}}, nil},
		{"the machine doesn't make it as slow", time.Second, outcome{ended: true, took: 21*time.Minute + time.Second, blocks: []blocked{
			held, slow, {kind: "slow-grace", object: "Deployment/shop/web", held: 2 * time.Minute}, {kind: "slow-grace", object: "Deployment/shop/late", held: 119 * time.Second}, {kind: "budget-held", object: "PodDisruptionBudget/shop/other", held: 70 * time.Second}, {object: "Deployment/shop/stuck", stops: true},
			{kind: "image-pull", object: "Deployment/shop/pulled", held: 4 * time.Minute, waits: 3},
		}, unready: []unready{big}}, []string{"duration", "Deployment/shop/web", "PodDisruptionBudget/shop/other", "Deployment/shop/stuck", "Deployment/shop/pulled"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := p.compare(&c.is, LiveRun{Speed: 20, Slowest: c.slowest, members: map[string]bool{"one": true, "two": true, "three": true, "four": true}})
			if want := map[bool]int{true: 2}[c.is.took == 15*time.Minute]; c.is.took <= 15*time.Minute && l.Longer != want {
				t.Errorf("%s is longer than %d runs, want %d", c.is.took, l.Longer, want)
			}
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
			for _, check := range l.Checks {
				if strings.Contains(check.Plan, "it up") != strings.Contains(check.Plan, "it up (") || strings.Contains(check.Live, "it up") != strings.Contains(check.Live, "it up (") {
					t.Errorf("%s: planned %s; live %s: want the kind of the block in both", check.What, check.Plan, check.Live)
				}
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

// A pod without a controller is a Job's in a live run: what both say of it isn't compared.
func TestPodsWithoutAControllerArentCompared(t *testing.T) {
	const pod, job = "Pod/shop/fix", "Job/shop/fix"
	p := &Plan{
		Runs: 100, Ends: 100, Blocks: []Block{{Kind: "slow-grace", Object: pod, Runs: 100}}, WontRun: []WontRun{{Workload: pod, Runs: 100, Pods: 1}},
		unready: map[string]counts{pod: {100, 1, 1}},
	}
	is := &outcome{ended: true, blocks: []blocked{{kind: "slow-grace", object: job, held: time.Hour}}, unready: []unready{{workload: job, pods: 1}}}
	if l := p.compare(is, LiveRun{Speed: 20}); len(l.Checks) != 3 {
		t.Errorf("found %+v, want a check of the end and two of %s", l.Checks, job)
	}
	is.without(job)
	if l := p.compare(is, LiveRun{Speed: 20}); !l.Agrees() || len(l.Checks) != 1 {
		t.Errorf("found %+v, want a check of the end alone", l.Checks)
	}
}

// Of many nodes one may be held up in a live run alone, by chance.
func TestNamesOfManyNodes(t *testing.T) {
	members := map[string]bool{"one": true, "two": true, "three": true, "four": true, "five": true, "six": true}
	for runs, want := range map[int]int{99: 0, 119: 0, 120: 2} {
		b := &Block{Runs: runs, onNode: map[string]int{"one": runs}}
		if said := b.unlike([]string{"two"}, members); len(said) != want {
			t.Errorf("%d runs, six nodes: found %q, want %d", runs, said, want)
		}
	}
}

// One more run lies within P5 and P95 in nine of ten cases, of as many places as it may take among the others.
func TestWithinNineOfTen(t *testing.T) {
	for runs := 1; runs <= 400; runs++ {
		took := make([]time.Duration, runs)
		for i := range took {
			took[i] = time.Duration(i + 1) // its rank
		}
		w := within(took)
		inside := float64(w.P95-w.P5) / float64(runs+1)
		if inside < 0.9 && runs >= 19 || inside > 0.9+2/float64(runs+1) || w.P5 > w.P95 {
			t.Errorf("of %d runs: from rank %d to %d, want nine of ten of the places between them", runs, w.P5, w.P95)
		}
	}
}

// A duration is unclear where the run stood still for as long, or had to wait for volumes.
func TestPausesAndVolumesExcuseADuration(t *testing.T) {
	p := &Plan{Runs: 1, Ends: 1, Within: &Within{P5: Duration(10 * time.Minute), P95: Duration(20 * time.Minute)}, took: []time.Duration{15 * time.Minute}}
	for name, c := range map[string]struct {
		run     LiveRun
		took    time.Duration
		unclear bool
	}{
		"paused":        {LiveRun{Speed: 20, Paused: time.Second}, 20*time.Minute + 20*time.Second, true},
		"paused less":   {LiveRun{Speed: 20, Paused: time.Second}, 20*time.Minute + 21*time.Second, false},
		"a volume":      {LiveRun{Speed: 20, disks: 1}, 20*time.Minute + 22*time.Second, true},
		"neither":       {LiveRun{Speed: 20}, 20*time.Minute + time.Second, false},
		"paused, quick": {LiveRun{Speed: 20, Paused: time.Second}, 9 * time.Minute, false},
	} {
		l := p.compare(&outcome{ended: true, took: c.took}, c.run)
		for _, check := range l.Checks {
			if check.What == "duration" && (check.Unclear != c.unclear || check.Agrees || c.unclear != strings.Contains(check.Live, "pauses and waits for volumes")) {
				t.Errorf("%s: %+v, want unclear: %v", name, check, c.unclear)
			}
		}
	}
}
