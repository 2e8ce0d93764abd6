package plan_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
)

const drifting = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: drifting, title: each node has a pod that Karpenter must not disrupt}
timeLimit: 2h
cluster: {provider: karpenter, kubernetesVersion: "1.34"}
groups: [{name: general, nodes: 3, instanceType: m5.large}]
workloads:
- {name: batch, namespace: shop, replicas: 3, spread: host, doNotDisrupt: true, requests: {cpu: 1100m, memory: 1Gi}}
roll: {strategy: karpenter-drift, budget: 100%}
`

// A block counts a run once, however many nodes wait for the same thing; a terminationGracePeriod lets Karpenter disrupt them all the same.
func TestABlockCountsARunOnce(t *testing.T) {
	p := planned(t, parsed(t, drifting), plan.Options{Runs: 4})
	if len(p.Blocks) != 1 || p.Blocks[0].Runs != 4 || p.Blocks[0].Stops != 4 || p.Blocks[0].Nodes != 3 {
		t.Errorf("found the blocks %+v, want one of 3 nodes in each of 4 runs", p.Blocks)
	}
	p = planned(t, parsed(t, drifting), plan.Options{Runs: 4, Roll: []spec.Setting{{Name: "evictionTimeout", Value: "10m"}}})
	if p.Ends != 4 {
		t.Errorf("with a terminationGracePeriod of 10m %d of 4 runs end, blocked by %+v", p.Ends, p.Blocks)
	}
}

// Karpenter leaves a node whose pod would run nowhere else, and the plan says which workload that is, and what helps.
func TestAPodThatWouldNotScheduleBlocksItsNode(t *testing.T) {
	small := strings.NewReplacer("doNotDisrupt: true, requests: {cpu: 1100m, memory: 1Gi}", "requests: {memory: 5Gi}", "instanceType: m5.large", "instanceType: m5.large, to: {instanceType: t3.medium}").Replace(drifting)
	p := planned(t, parsed(t, small), plan.Options{Runs: 3})
	if p.Ends != 0 || len(p.Blocks) != 1 {
		t.Fatalf("%d of 3 runs end, blocked by %+v: want none, and one block", p.Ends, p.Blocks)
	}
	b := &p.Blocks[0]
	if b.Kind != "disruption-blocked" || b.Object != "Deployment/shop/batch" || b.Stops != 3 || b.Nodes != 3 || !strings.HasSuffix(b.Text, " => Insufficient memory") || !strings.HasPrefix(b.Remedy, "give a NodePool nodes") {
		t.Errorf("found %+v, want the Deployment to block three nodes in each run for want of memory", b)
	}
}

// Changes that no run would show are refused.
func TestUselessChanges(t *testing.T) {
	text := strings.Replace(smaller, "groups:", "groups:\n- {name: others, nodes: 1}", 1)
	for change, want := range map[string]string{
		"group/others:version=1.35": "that group isn't rolled: want one of workers",
		"group/workers:max=9":       "nothing scales that group: want an autoscaler in the file",
	} {
		c, err := spec.ParseChange(change)
		if err != nil {
			t.Fatal(err)
		}
		_, err = plan.Of(t.Context(), parsed(t, text), plan.Options{Groups: []string{"workers"}, Runs: 1, WhatIf: []spec.Change{c}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %q", change, err, want)
		}
	}
}

// The grace period of pods that a podSpec describes is that of the podSpec.
func TestGraceOfAPodSpec(t *testing.T) {
	const text = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: graceful, title: pods that take as long as they may}
timeLimit: 12h
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups: [{name: workers, nodes: 2}]
workloads:
- name: games
  namespace: shop
  replicas: 2
  stop: never
  podSpec: {terminationGracePeriodSeconds: 30, containers: [{name: game}]}
roll: {strategy: eks-default}
`
	var took [2]plan.Duration
	for i, value := range []string{"30s", "10m"} {
		c, err := spec.ParseChange("workload/shop/games:grace=" + value)
		if err != nil {
			t.Fatal(err)
		}
		p := planned(t, parsed(t, text), plan.Options{Runs: 2, WhatIf: []spec.Change{c}})
		if p.Duration == nil {
			t.Fatalf("with %s no run ends", value)
		}
		took[i] = p.Duration.P50
	}
	if took[1] < took[0]+plan.Duration(5*60*1e9) {
		t.Errorf("the roll takes %s with 30s and %s with 10m of grace", took[0], took[1])
	}
}
