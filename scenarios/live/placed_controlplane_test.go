//go:build controlplane

package live_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/live"
)

const placed = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: own, title: a cluster that somebody has read}
timeLimit: 2h
cluster:
  provider: eks
  instanceTypes: [{name: m5.large, allocatable: {cpu: 1930m, memory: 7134420Ki, pods: 29, example.com/fpga: 2}}]
groups:
- name: workers
  nodes: 3
  members: [{name: alpha}, {name: beta}, {name: gamma, labels: {disk: nvme}}]
workloads:
- name: web
  namespace: shop
  replicas: 4
  podLabels: {tier: front}
  podSpec:
    affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: disk, operator: In, values: [nvme]}]}}]}}
    containers: [{name: app, resources: {limits: {cpu: 100m, memory: 64Mi, example.com/fpga: 1}}}]
  pods: [{name: web-abc-1, node: beta}, {name: web-abc-2, node: beta}, {name: web-abc-3, node: alpha}, {name: web-abc-4, node: alpha}]
- {name: db, namespace: shop, kind: StatefulSet, replicas: 2, pods: [{name: db-0, node: beta}, {name: db-1, node: beta}]}
budgets:
- {name: front, namespace: shop, selector: {matchExpressions: [{key: tier, operator: In, values: [front]}]}, maxUnavailable: 1}
`

// A live run of a cluster that somebody has read: at 0s the nodes have their names and pods are where they were, on nodes that the
// scheduler wouldn't choose.
func TestPlacedPods(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	plane := plane(t)
	s := raise(ctx, t, plane.Config(), written(t, placed), live.Speed(8))
	pods, err := client(t).CoreV1().Pods("shop").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	began := map[string]int{}
	for i := range pods.Items {
		began[pods.Items[i].Labels["tier"]+pods.Items[i].Labels["app"]+" "+pods.Items[i].Spec.NodeName]++
	}
	s.end()
	<-s.done
	if got, want := fmt.Sprint(began), "map[db beta:2 front alpha:2 front beta:2]"; got != want {
		t.Errorf("pods began on %s, want %s", got, want)
	}
	endCheck(t)
}
