package scenarios_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios"
)

const placedLive = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: own, title: a cluster that somebody has read}
timeLimit: 1h
cluster: {provider: eks, kubelet: kwok}
groups:
- name: workers
  nodes: 3
  members: [{name: alpha}, {name: beta, cordoned: true}, {name: gamma, labels: {disk: nvme}}]
workloads:
- name: web
  namespace: shop
  replicas: 3
  podLabels: {tier: front}
  podSpec: {containers: [{name: app, resources: {requests: {cpu: 100m}}}]}
  pods: [{name: web-abc-1, node: beta}, {name: web-abc-2, node: beta}, {name: web-abc-3, node: gamma}]
- {name: db, namespace: shop, kind: StatefulSet, replicas: 2, pods: [{name: db-0, node: beta}, {name: db-1, node: alpha}]}
budgets:
- {name: front, namespace: shop, selector: {matchLabels: {tier: front}}, maxUnavailable: 1}
`

// A live run of a cluster that somebody has read begins with its nodes by their names, and its pods where they were, on a node that no
// scheduler would choose as well.
func TestLivePodsAreWhereTheyWere(t *testing.T) {
	doc, err := scenarios.Parse("own.yaml", []byte(placedLive))
	if err != nil {
		t.Fatal(err)
	}
	file, err := doc.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	wall := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	w := newPlane(func() time.Time { return wall })
	if w.p, err = file.SimulateLive(scenarios.LiveConfig{APIServer: w, Now: w.now, Speed: 10}); err != nil {
		t.Fatal(err)
	}
	w.create(w.p.Objects())
	if got := w.p.Unplaced(); !w.p.Placing() || len(got) != 2 {
		t.Errorf("unplaced before there are pods: %q", got)
	}
	w.settle()
	if got := w.p.Unplaced(); len(got) > 0 {
		t.Fatalf("unplaced: %q", got)
	}
	w.p.Seed()
	w.settle()
	if missing := w.p.Unsettled(); len(missing) > 0 {
		t.Fatalf("at 0s: %v", missing)
	}
	placed := map[string]int{}
	for _, pod := range w.pods {
		placed[pod.Labels["tier"]+pod.Labels["app"]+" "+pod.Spec.NodeName]++
	}
	if got, want := fmt.Sprint(placed), "map[db alpha:1 db beta:1 front beta:2 front gamma:1]"; got != want {
		t.Errorf("pods are on %s, want %s", got, want)
	}
	if names := slices.Sorted(maps.Keys(w.nodes)); !slices.Equal(names, []string{"alpha", "beta", "gamma"}) || !w.nodes["beta"].Spec.Unschedulable || w.nodes["gamma"].Labels["disk"] != "nvme" {
		t.Errorf("nodes are %v, with beta %v and gamma %v", names, w.nodes["beta"].Spec, w.nodes["gamma"].Labels)
	}
	if err := w.p.Begin(); err != nil {
		t.Fatal(err)
	}
}
