package hunt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// readCluster is as a cluster that was read: nodes with names, and what runs where.
const readCluster = `
apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: prod, title: a cluster that was read}
cluster: {provider: eks}
groups:
- name: workers
  nodes: 4
  members:
  - {name: ip-10-0-1-1, zone: eu-central-1a}
  - {name: ip-10-0-1-2, zone: eu-central-1b, cordoned: true}
  - {name: ip-10-0-1-3, zone: eu-central-1a}
  - {name: ip-10-0-1-4, zone: eu-central-1b, labels: {disk: fast}}
- {name: spare, nodes: 1, members: [{name: ip-10-0-2-1, zone: eu-central-1c}]}
workloads:
- name: web
  namespace: shop
  replicas: 3
  podLabels: {app: web, tier: front}
  pods: [{name: web-a, node: ip-10-0-1-1}, {name: web-b, node: ip-10-0-1-4}, {name: web-c, node: ip-10-0-2-1}]
- {name: agent, kind: DaemonSet, pods: [{name: agent-1, node: ip-10-0-1-3}]}
budgets:
- {workload: web, minAvailable: 2}
roll: {strategy: eks-default, groups: [workers]}
leftOut: [two pods of no owner]
`

func read(t *testing.T, text string) *spec.File {
	t.Helper()
	d, err := scenarios.Parse("read", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &f.File
}

// Cases of a cluster that was read, and what is smaller than each, are files that the checks take.
func TestCasesOfAClusterAreFiles(t *testing.T) {
	space := variant.NewSpace(variant.Config{File: read(t, readCluster), Seed: 3})
	again := func(f *spec.File) {
		t.Helper()
		text, err := hunt.Text(f)
		if err != nil {
			t.Fatal(err)
		}
		same, err := hunt.Read(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(f, same, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s\n%s", diff, text)
		}
	}
	kept := variant.NewSpace(variant.Config{
		File: space.File, Seed: 3, Roll: []spec.Setting{{Name: "strategy", Value: "eks-default"}, {Name: "maxUnavailable", Value: "1"}},
	})
	judge, nodes := hunt.Simulated(nil), map[int]bool{}
	for number := range uint64(8) {
		f := space.Case(3, number)
		again(f)
		for smaller := range variant.Smaller(f, space.File) {
			again(smaller)
		}
		nodes[f.Nodes()] = true
		if f = kept.Case(3, number); f.Roll.Strategy != spec.StrategyEKSDefault || f.Roll.MaxUnavailable.String() != "1" {
			t.Errorf("case %d has %+v", number, f.Roll)
		}
		again(f)
		if o, err := judge(t.Context(), space.Case(3, number)); err != nil || len(o.Failures) > 0 {
			t.Errorf("case %d: %v %v", number, o.Failures, err)
		}
	}
	if len(nodes) < 2 {
		t.Errorf("8 cases have %v nodes", nodes)
	}
}
