package nodemanager_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
)

func mustPlan(t *testing.T, s nodemanager.Planner, nodes []*api.Node, pods []*api.Pod, now time.Time) nodemanager.Changes {
	t.Helper()
	changes, err := s.Plan(nodes, pods, now)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func TestIdleNodesHaveGrace(t *testing.T) {
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{IdleGrace: time.Minute})
	nodes := nodesOf("A")

	// Nobody needs it: the clock of the node starts.
	c := mustPlan(t, s, nodes, nil, start)
	if len(c.Stop) != 0 || len(c.Update) != 1 || !c.Update[0].Status.IdleSince.Equal(start) {
		t.Fatalf("at once: %+v, want one update with the time, no stop", c)
	}
	nodes = c.Update
	c = mustPlan(t, s, nodes, nil, start.Add(time.Minute-1))
	if len(c.Stop)+len(c.Update) != 0 {
		t.Fatalf("within the grace: %+v, want nothing", c)
	}
	// A pod comes, and the clock starts again when it goes.
	c = mustPlan(t, s, nodes, podsOf("A"), start.Add(time.Minute))
	if c.Bindings["pod-00"] != "old-00" || len(c.Start) != 0 || !c.Update[0].Status.IdleSince.IsZero() {
		t.Fatalf("with a pod: %+v, want it on the idle node", c)
	}
	c = mustPlan(t, s, nodes, nil, start.Add(time.Minute))
	if words(c.Stop) != "A" {
		t.Fatalf("after the grace: stops %q, want A", words(c.Stop))
	}
}

func TestPoolsPauseAfterFailures(t *testing.T) {
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{
		Standby: []nodemanager.StandbyNodeSpec{{InstanceType: "A", Count: 1}, {InstanceType: "A", Count: 1, Spot: true}},
		Backoff: nodemanager.Backoff{First: time.Minute, Max: 3 * time.Minute},
	})
	now := start
	for i, pause := range []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute, 3 * time.Minute} {
		s.BootFailed("A", false, now)
		if got := words(mustPlan(t, s, nil, nil, now.Add(pause-1)).Start); got != "A+spot" {
			t.Errorf("after failure %d, before %s: starts %q, want A+spot alone", i+1, pause, got)
		}
		now = now.Add(pause)
		if got := words(mustPlan(t, s, nil, nil, now).Start); got != "A A+spot" {
			t.Errorf("after failure %d and %s: starts %q, want both", i+1, pause, got)
		}
	}
	s.BootFailed("A", false, now)
	if got := words(mustPlan(t, s, nil, podsOf("A"), now).Start); got != "A A+spot" {
		t.Errorf("a pod that needs one: starts %q, want it started for the pod", got)
	}
	s.BootSucceeded("A", false, now)
	if got := words(mustPlan(t, s, nil, nil, now).Start); got != "A A+spot" {
		t.Errorf("after a success: starts %q, want both", got)
	}
	s.BootFailed("A", false, now) // at the same moment, which is told second by chance
	if got := words(mustPlan(t, s, nil, nil, now).Start); got != "A A+spot" {
		t.Errorf("after a success and a failure at one moment: starts %q, want both", got)
	}
}

func TestPoolsDontAskForWhatIsRefused(t *testing.T) {
	marks := cloud.NewMarks()
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{
		Standby: []nodemanager.StandbyNodeSpec{{InstanceType: "A", Count: 2}}, Unavailable: marks.Unavailable,
	})
	marks.Instance("A", false, start)
	if got := words(mustPlan(t, s, nil, nil, start).Start); got != "" {
		t.Errorf("refused: starts %q, want nothing", got)
	}
	if got := words(mustPlan(t, s, nil, nil, start.Add(cloud.MarkTTL)).Start); got != "A A" {
		t.Errorf("when the mark is over: starts %q, want A A", got)
	}
}

func TestTheCloudIsAskedOnceForEachPlace(t *testing.T) {
	asked := map[string]int{}
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{
		Unavailable: func(kind string, spot, private bool, zone string, now time.Time) bool {
			asked[fmt.Sprint(kind, spot, private, zone, now.Sub(start))]++
			return false
		},
	})
	mustPlan(t, s, nil, podsOf("A A A/a A/a A+spot"), start)
	want := map[string]int{"Afalse false0s": 1, "Afalse falsea0s": 1, "Atrue false0s": 1}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

func TestEqualPoolsAddUp(t *testing.T) {
	pool := nodemanager.StandbyNodeSpec{InstanceType: "A", Count: 1}
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{Standby: []nodemanager.StandbyNodeSpec{pool, pool}})
	if got := words(mustPlan(t, s, nil, nil, start).Start); got != "A A" {
		t.Errorf("starts %q, want A A", got)
	}
	if got := words(mustPlan(t, s, nodesOf("A A A"), nil, start).Stop); got != "A" {
		t.Errorf("of three: stops %q, want A", got)
	}
}

func TestUnmetPodsAreNamed(t *testing.T) {
	marks := cloud.NewMarks()
	marks.Zone("A", false, "a", start)
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{Unavailable: marks.Unavailable})
	c := mustPlan(t, s, nil, podsOf("A/a A/b"), start)
	want := []nodemanager.Unmet{{Pod: "pod-00", Reason: nodemanager.CloudUnavailable}}
	if diff := cmp.Diff(want, c.Unmet); diff != "" || c.Bindings["pod-00"] != "" {
		t.Errorf("unmet (-want +got):\n%s bindings %v", diff, c.Bindings)
	}
}

func TestOfTwoNodesOfAPodTheLaterKeepsIt(t *testing.T) {
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{})
	c := mustPlan(t, s, nodesOf("A@pod-00 A@pod-00"), podsOf("A"), start)
	want := map[string]string{"pod-00": "old-01"}
	if diff := cmp.Diff(want, c.Bindings); diff != "" || len(c.Start)+len(c.Stop)+len(c.Update) != 0 {
		t.Errorf("bindings (-want +got):\n%s starts %v, stops %v, updates %v, want none", diff, c.Start, c.Stop, c.Update)
	}
	// Once the pod has its node, the other one is free.
	if c := mustPlan(t, s, nodesOf("A@pod-00"), nil, start); words(c.Stop) != "A" {
		t.Errorf("after that: stops %q, want A", words(c.Stop))
	}
}

func TestANodeThatHasToGoServesNobody(t *testing.T) {
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{})
	nodes := nodesOf("A A@pod-00")
	for _, node := range nodes {
		node.Spec.Terminate = true
	}
	c := mustPlan(t, s, nodes, podsOf("A"), start)
	if words(c.Start) != "A" || len(c.Stop)+len(c.Update) != 0 {
		t.Errorf("found %+v, want one new node and the others left to the reaper", c)
	}
}

func TestTheOldestPodGetsTheFirstNode(t *testing.T) {
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{})
	pods := podsOf("A A A/z")
	pods[0].CreationTimestamp, pods[1].CreationTimestamp = start.Add(time.Second), start
	pods[2].CreationTimestamp = start.Add(time.Hour)
	nodes := nodesOf("A A/z")
	c := mustPlan(t, s, nodes, pods, start)
	// pod-02 has the only zone; pod-01 is older than pod-00, for which nothing is left.
	if c.Bindings["pod-02"] != "old-01" || c.Bindings["pod-01"] != "old-00" || c.Start[0].Status.BoundPodName != "pod-00" {
		t.Errorf("found %v and a new node for %q", c.Bindings, c.Start[0].Status.BoundPodName)
	}
}

func TestWhatCantBePlanned(t *testing.T) {
	pool := func(spec nodemanager.StandbyNodeSpec) nodemanager.ScalerConfig {
		return nodemanager.ScalerConfig{Standby: []nodemanager.StandbyNodeSpec{spec}}
	}
	for want, c := range map[string]struct {
		config nodemanager.ScalerConfig
		nodes  []*api.Node
		pods   []*api.Pod
	}{
		"plan nodes: node 0 of 1: nil or without a name: want a named node":  {nodes: []*api.Node{nil}},
		"plan nodes: pod 1 of 2: nil or without a name: want a named pod":    {pods: append(podsOf("A"), &api.Pod{})},
		`plan nodes: node "old-00" is given twice: want each once`:           {nodes: append(nodesOf("A"), nodesOf("B")...)},
		`plan nodes: pod "pod-00" is given twice: want each once`:            {pods: append(podsOf("A"), podsOf("B")...)},
		"plan nodes: standby pool 0 (A): count -1: want 0 to 100000":         {config: pool(nodemanager.StandbyNodeSpec{InstanceType: "A", Count: -1})},
		"plan nodes: standby pool 0 (A): count 1073741824: want 0 to 100000": {config: pool(nodemanager.StandbyNodeSpec{InstanceType: "A", Count: 1 << 30})},
		"plan nodes: standby pool 0: no instance type: name one":             {config: pool(nodemanager.StandbyNodeSpec{Count: 1})},
	} {
		_, err := nodemanager.NewScaler(c.config).Plan(c.nodes, c.pods, start)
		if err == nil || err.Error() != want {
			t.Errorf("found %v, want %s", err, want)
		}
	}
}

func TestAPlanNeedsAMoment(t *testing.T) {
	if _, err := nodemanager.NewScaler(nodemanager.ScalerConfig{}).Plan(nil, nil, time.Time{}); err == nil {
		t.Error("the zero time: found no error")
	}
}

func TestLimitBoots(t *testing.T) {
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{
		Standby: []nodemanager.StandbyNodeSpec{{InstanceType: "S", Count: 3}},
	})
	whole := mustPlan(t, s, nil, podsOf(strings.Repeat("A ", 8)), start)
	chosen := map[string]int{}
	for seed := range uint64(200) {
		c := whole.LimitBoots(5, rand.New(rand.NewPCG(seed, 0)))
		if words(c.Start) != "A A A A A" || len(c.Bindings) != 5 || len(c.Unmet) != 3 {
			t.Fatalf("seed %d: starts %q, binds %v, unmet %v; want five pods served", seed, words(c.Start), c.Bindings, c.Unmet)
		}
		for _, node := range c.Start {
			if c.Bindings[node.Status.BoundPodName] != node.Name {
				t.Fatalf("seed %d: %s isn't in %v", seed, node.Status.BoundPodName, c.Bindings)
			}
			chosen[node.Status.BoundPodName]++
		}
		if again := whole.LimitBoots(5, rand.New(rand.NewPCG(seed, 0))); !cmp.Equal(c, again) {
			t.Fatalf("seed %d: two answers", seed)
		}
	}
	for i := range 8 {
		if pod := fmt.Sprintf("pod-%02d", i); chosen[pod] < 80 || chosen[pod] > 170 {
			t.Errorf("%s was chosen %d times of 200, want around 125", pod, chosen[pod])
		}
	}
	if c := whole.LimitBoots(9, nil); words(c.Start) != "A A A A A A A A S" || len(c.Unmet) != 0 {
		t.Errorf("with room for one more: starts %q, want one standby node", words(c.Start))
	}
	if c := whole.LimitBoots(-1, nil); len(c.Start) != 11 {
		t.Errorf("without a limit: starts %d, want 11", len(c.Start))
	}
	if len(whole.Start) != 11 || len(whole.Bindings) != 8 {
		t.Errorf("the whole was changed: %+v", whole)
	}
}

func TestPublishLeavesOutWhatWasntCreated(t *testing.T) {
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{})
	c := mustPlan(t, s, nodesOf("A"), podsOf("A B C"), start)
	failed := c.Start[0]
	got := c.Publish(func(node string) bool { return node != failed.Name })
	want := map[string]string{"pod-00": "old-00", "pod-02": c.Start[1].Name}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
}

func TestNamesComeOfTheSeed(t *testing.T) {
	names := func(seed uint64, now time.Time) string {
		c := mustPlan(t, nodemanager.NewScaler(nodemanager.ScalerConfig{Seed: seed}), nil, podsOf("A A"), now)
		return c.Start[0].Name + " " + c.Start[1].Name
	}
	if a, b := names(1, start), names(1, start); a != b {
		t.Errorf("the same seed and moment: found %s and %s", a, b)
	}
	if a, b := names(1, start), names(2, start); a == b {
		t.Errorf("two seeds: found %s twice", a)
	}
	if a, b := names(1, start), names(1, start.Add(1)); a == b {
		t.Errorf("two moments: found %s twice", a)
	}
	s := nodemanager.NewScaler(nodemanager.ScalerConfig{})
	a, _, _ := s.Compute(nil, podsOf("A"))
	b, _, _ := s.Compute(nil, podsOf("A"))
	if a[0].Name == b[0].Name {
		t.Errorf("two calls of Compute: found %s twice", a[0].Name)
	}
}
