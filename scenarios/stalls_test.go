package scenarios_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// What drains a node whose kubelet is silent.
const (
	capiDrainsASilentNode = `
cluster: {provider: capi}
groups: [{name: md-0, nodes: 3}]
workloads: [{name: web, replicas: 6}]
faults: [{at: 5s, kubeletDown: {which: old}}]
roll: {strategy: capi}
`
	karpenterDrainsASilentNode = `
cluster: {provider: karpenter}
groups: [{name: w, nodes: 4}]
workloads: [{name: web, replicas: 6}]
faults: [{at: 5s, kubeletDown: {which: old}}]
roll: {strategy: karpenter-drift, budget: 50%}
`
)

// A roll isn't over because a node is lost or silent, nor because of a budget of nobody; and it ends.
func TestRollsThatUsedToStall(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		by   time.Duration // when all old nodes are gone
	}{
		"Cluster API drains a silent node": {capiDrainsASilentNode, 4 * time.Hour},
		"Karpenter drains a silent node":   {karpenterDrainsASilentNode, 4 * time.Hour},
		"GKE loses a drained blue node": {`
cluster: {provider: gke}
groups: [{name: pool, nodes: 3, members: [{name: n-a}, {name: n-b}, {name: n-c}]}]
workloads: [{name: web, replicas: 1, grace: 30m, stop: never, pods: [{name: web-abc-1, node: n-c}]}]
roll: {strategy: gke-blue-green, maxUnavailable: 3, soak: 1m}
faults: [{at: 20m, vanish: {node: n-a}}]
`, 4 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			old, last := map[string]bool{}, time.Duration(0)
			for _, ev := range events(t, file(t, "metadata: {name: stalls, title: a roll that may stall}\ntimeLimit: 6h"+c.text)) {
				if ev.Resource != "nodes" {
					continue
				}
				switch {
				case ev.Type == timeline.Added && ev.At < time.Second:
					old[ev.Name] = true
				case ev.Type == timeline.Deleted && old[ev.Name]:
					delete(old, ev.Name)
					last = ev.At
				}
			}
			if len(old) > 0 || last > c.by {
				t.Errorf("%d old nodes are left, the last one to go went at %s", len(old), last)
			}
		})
	}
}

// Karpenter launches no node for pods that no node of the pool takes: those of DaemonSets, and those that a node with room has not taken.
func TestKarpenterLaunchesNothingInVain(t *testing.T) {
	nodes := map[string]bool{}
	for _, ev := range events(t, file(t, `
metadata: {name: vain, title: no NodePool takes this pod}
timeLimit: 2h
cluster: {provider: karpenter}
groups: [{name: w, nodes: 2, taints: [{key: team, value: a, effect: NoSchedule}]}]
workloads: [{name: web, replicas: 1}]
faults: [{at: 1h, mark: {name: end}}]
`)) {
		if ev.Resource == "nodes" && ev.Type == timeline.Added {
			nodes[ev.Name] = true
		}
	}
	if len(nodes) != 2 {
		t.Errorf("found %d nodes, want the two that are there", len(nodes))
	}
}

// Nor does the Cluster Autoscaler, where pods ask for what no node of the group has.
func TestTheAutoscalerGrowsNothingInVain(t *testing.T) {
	nodes, said := 0, false
	for _, ev := range events(t, file(t, `
metadata: {name: gpu, title: no group has one}
timeLimit: 2h
cluster: {provider: eks}
groups: [{name: workers, nodes: 2, max: 10}]
workloads:
- {name: web, replicas: 2, spread: host}
- {name: train, createAt: 2m, podSpec: {containers: [{name: t, resources: {limits: {nvidia.com/gpu: 1}}}]}}
autoscaler: {groups: [workers]}
faults: [{at: 1h, mark: {name: end}}]
`)) {
		if ev.Resource == "nodes" && ev.Type == timeline.Added {
			nodes++
		}
		said = said || ev.Resource == "events" && bytes.Contains(ev.Object, []byte("1 Insufficient nvidia.com/gpu"))
	}
	if nodes != 2 || !said {
		t.Errorf("found %d nodes, and the reason %t; want two, and that the GPU is what lacks", nodes, said)
	}
}

// A budget of 0 is how people stop disruptions: the roll waits, and doesn't fail.
func TestABudgetOfZeroStopsDrift(t *testing.T) {
	var said []string
	for _, ev := range events(t, file(t, `
metadata: {name: frozen, title: no disruptions are allowed}
timeLimit: 1h
cluster: {provider: karpenter}
groups: [{name: w, nodes: 2}]
roll: {strategy: karpenter-drift, budget: 0}
`)) {
		if ev.Resource == "nodes" && ev.Type == timeline.Deleted {
			t.Errorf("%s is gone at %s", ev.Name, ev.At)
		}
		if ev.Type == timeline.Mark {
			said = append(said, ev.Name)
		}
	}
	if slices.Contains(said, "roll-failed") {
		t.Errorf("the roll failed: %q", said)
	}
}

// A Job that meets a roll runs again what was evicted, and takes none of its pods for one too many.
func TestAJobMeetsARoll(t *testing.T) {
	made := 0
	for _, ev := range events(t, file(t, `
metadata: {name: job, title: a job meets a roll}
timeLimit: 4h
cluster: {provider: eks}
groups: [{name: workers, nodes: 3}]
workloads: [{name: batch, namespace: shop, kind: Job, replicas: 8, spread: host}]
roll: {strategy: eks-default}
`)) {
		switch {
		case ev.Namespace == "shop" && ev.Resource == "pods" && ev.Type == timeline.Added:
			made++
		case ev.Namespace == "shop" && ev.Resource == "events" && bytes.Contains(ev.Object, []byte(`"SuccessfulDelete"`)):
			t.Errorf("the Job deletes a pod: %s", ev.Object)
		}
	}
	if made < 12 {
		t.Errorf("%d pods were made, want the eight, and others for those that were evicted", made)
	}
}

// A percentage of a small group that comes to less than a node is one that may be missing, and no node more: an old one goes
// before a new one comes.
func TestAPercentageIsOneNodeAtLeast(t *testing.T) {
	for strategy, provider := range map[string]string{"kops": "kops", "capi": "capi", "aks-reimage": "aks"} {
		var order []string
		for _, ev := range events(t, file(t, `metadata: {name: few, title: a tenth of a few nodes}
timeLimit: 6h
cluster: {provider: `+provider+`}
groups: [{name: few, nodes: 3}]
roll: {strategy: `+strategy+`, maxSurge: 0, maxUnavailable: 10%}
`)) {
			switch {
			case ev.Resource != "nodes" || ev.At < time.Second:
			case ev.Type == timeline.Added:
				order = append(order, "new")
			case bytes.Contains(ev.Patch, []byte(`"unschedulable":true`)):
				order = append(order, "cordon")
			}
		}
		if got := strings.Join(order, " "); got != "cordon new cordon new cordon new" {
			t.Errorf("%s: %s, want each old node to be cordoned before a new one comes", strategy, got)
		}
	}
}
