package plan_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Of a cluster whose pods or budgets nobody could read, a plan doesn't say that all is well.
func TestWhatIsntKnown(t *testing.T) {
	const flat = "Nothing holds up the roll: no budget for ten seconds"
	nodes := `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: unread, title: nodes alone}
cluster: {provider: eks}
groups: [{name: workers, nodes: 1}]
`
	for _, c := range []struct {
		leftOut       string
		blocks, rests string
	}{
		{"host ports", flat, "Every pod runs again."},
		{spec.NotRead(spec.BudgetsOfCluster) + "the input has none", "Whether a budget holds up the roll isn't known: none was read.", "Every pod runs again."},
		{spec.NotRead(spec.PodsOfCluster) + "the input has none", "What holds up the roll isn't known: no pod was read", "Whether every pod runs again isn't known"},
	} {
		p := planned(t, parsed(t, nodes+"leftOut: [\""+c.leftOut+"\"]\n"), plan.Options{Runs: 2})
		text, md := written(t, p.Text), written(t, p.Markdown)
		if !strings.Contains(text, c.blocks) || !strings.Contains(text, c.rests) || c.blocks != flat && strings.Contains(text, flat) {
			t.Errorf("%s: got\n%s\nwant %q and %q", c.leftOut, text, c.blocks, c.rests)
		}
		if strings.Contains(text, "Every workload keeps") != (c.rests == "Every pod runs again.") {
			t.Errorf("%s: got\n%s", c.leftOut, text)
		}
		if strings.Contains(md, c.blocks) != (c.blocks != flat) {
			t.Errorf("%s: got\n%s\nwant %q where it isn't known", c.leftOut, md, c.blocks)
		}
	}
}

// What holds up the roll is said, and what wasn't read, too.
func TestWhatIsntKnownBesideWhatBlocks(t *testing.T) {
	held := `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: unread, title: a budget that refuses all}
timeLimit: 1h
cluster: {provider: eks}
groups: [{name: workers, nodes: 2}]
workloads: [{name: web, replicas: 2}]
budgets: [{workload: web, minAvailable: 2}]
`
	for leftOut, want := range map[string]string{
		"host ports": "",
		spec.NotRead(spec.BudgetsOfCluster) + "x": "Whether a budget holds up the roll isn't known: none was read.",
		spec.NotRead(spec.PodsOfCluster) + "x":    "What else holds up the roll isn't known: no pod was read.",
	} {
		p := planned(t, parsed(t, held+"leftOut: [\""+leftOut+"\"]\n"), plan.Options{Runs: 2})
		if len(p.Blocks) == 0 {
			t.Fatal("nothing blocks")
		}
		for _, text := range []string{written(t, p.Text), written(t, p.Markdown)} {
			if !strings.Contains(text, want) || want == "" && strings.Contains(text, "isn't known") || strings.Contains(text, "Nothing else does") {
				t.Errorf("%s: got\n%s\nwant %q", leftOut, text, want)
			}
		}
	}
}

// A pod without a controller doesn't run again once it is evicted, and no plan says that it does.
func TestPodsWithoutAController(t *testing.T) {
	p := planned(t, parsed(t, `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: bare, title: a pod without a controller}
timeLimit: 4h
cluster: {provider: eks}
groups: [{name: workers, nodes: 2}]
workloads: [{name: web, replicas: 2}, {name: fix, kind: Pod}]
`), plan.Options{Runs: 2})
	text := written(t, p.Text)
	if !strings.Contains(text, "\nEvery pod that has a controller runs again;") || strings.Contains(text, "Every pod runs again.") || p.Pods != 3 {
		t.Errorf("got %d pods and\n%s\nwant that the pod without a controller doesn't run again", p.Pods, text)
	}
}

// Nodes with the image that a roll has begun to bring stay, with one kubelet as with two.
func TestARollToAnotherImageThatHasBegun(t *testing.T) {
	f := parsed(t, `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: begun, title: one of three nodes is replaced}
timeLimit: 4h
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups:
- name: workers
  nodes: 3
  from: {version: v1.34.2-eks-ecaa3a6, image: ami-00000000000000001}
  to: {version: v1.34.2-eks-ecaa3a6, image: ami-00000000000000002}
  members:
  - {name: new-1, image: ami-00000000000000002}
  - {name: old-1}
  - {name: old-2, image: ami-00000000000000001}
workloads:
- {name: web, replicas: 2}
`)
	for want, o := range map[string]plan.Options{
		"old-1 old-2":       {},
		"new-1 old-1 old-2": {ToVersion: "1.34"},
		"old-2 old-1 new-1": {ToImage: "ami-00000000000000003"},
	} {
		o.Runs, o.Roll = 2, []spec.Setting{{Name: "strategy", Value: "plain"}}
		p := planned(t, f, o)
		if n := len(strings.Fields(want)); len(p.Order) != n || p.Ends != 2 {
			t.Errorf("%+v: %+v are replaced, in %d of 2 runs to the end: want %s", o, p.Order, p.Ends, want)
		}
		for _, n := range p.Order {
			if !strings.Contains(want, n.Name) {
				t.Errorf("%+v: %s is replaced, want %s", o, n.Name, want)
			}
		}
	}
}
