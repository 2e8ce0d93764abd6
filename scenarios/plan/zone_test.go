package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// twoZones has pods with a volume and without in two zones, on nodes of some groups.
const twoZones = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: zones, title: pods with a volume and without in two zones}
timeLimit: 12h
settle: 15m
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups: [%s]
workloads:
- {name: db, namespace: shop, kind: StatefulSet, replicas: 1, volume: 10Gi, pods: [{name: db-0, node: a1}]}
- {name: cache, namespace: shop, kind: StatefulSet, replicas: 1, volume: 10Gi, pods: [{name: cache-0, node: b1}]}
- {name: web, namespace: shop, replicas: 2, pods: [{name: web-a, node: a1}, {name: web-b, node: b2}]}
`

// Where a zone is lost, pods whose volumes are bound to it don't run again, and all others do: nothing mounts the volume elsewhere if the
// node is replaced, and nothing takes a StatefulSet's pod from its node if that stays.
func TestALostZone(t *testing.T) {
	const (
		a1 = "{name: a1, zone: eu-central-1a}"
		bs = "{name: b1, zone: eu-central-1b}, {name: b2, zone: eu-central-1b}"
	)
	for _, c := range []struct {
		name, groups    string
		lost            string // zone
		reason, message string // "" where every pod runs again
	}{
		{
			"its node is replaced", "{name: workers, nodes: 3, members: [" + a1 + ", " + bs + "]}", "eu-central-1a",
			"Unschedulable", "node(s) didn't match PersistentVolume's node affinity",
		},
		{
			"its node stays", "{name: workers, nodes: 2, members: [" + bs + "]}, {name: others, nodes: 1, members: [" + a1 + "]}", "eu-central-1a",
			"NodeStatusUnknown", "Kubelet stopped posting node status.",
		},
		{"it has no node", "{name: workers, nodes: 3, members: [" + a1 + ", " + bs + "]}", "eu-central-1c", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			change, err := spec.ParseChange("zone/" + c.lost + ":lost=1s") // before the roll begins
			if err != nil {
				t.Fatal(err)
			}
			p := planned(t, parsed(t, fmt.Sprintf(twoZones, c.groups)), plan.Options{
				Groups: []string{"workers"}, Runs: 3, WhatIf: []spec.Change{change},
				Roll: []spec.Setting{{Name: "strategy", Value: "plain"}, {Name: "force", Value: "true"}, {Name: "evictionTimeout", Value: "5m"}},
			})
			if p.Ends != 3 {
				t.Errorf("%d of 3 runs end, the others by %+v: want all, by force", p.Ends, p.Endless)
			}
			if c.reason == "" {
				if len(p.WontRun) > 0 {
					t.Errorf("found %+v, want every pod to run again", p.WontRun)
				}
				return
			}
			if len(p.WontRun) != 1 {
				t.Fatalf("found %+v, want StatefulSet/shop/db alone", p.WontRun)
			}
			w := &p.WontRun[0]
			if w.Workload != "StatefulSet/shop/db" || w.Pod != "shop/db-0" || w.Pods != 1 || w.Runs != 3 || w.Before {
				t.Errorf("found %+v, want the pod of StatefulSet/shop/db in all 3 runs, which ran before", w)
			}
			if w.Reason != c.reason || !strings.Contains(w.Message, c.message) {
				t.Errorf("found %s: %s, want %s: … %s", w.Reason, w.Message, c.reason, c.message)
			}
		})
	}
}
