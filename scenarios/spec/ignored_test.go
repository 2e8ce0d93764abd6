package spec_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// What a file says and nothing would do is refused.
func TestKeysThatWouldDoNothing(t *testing.T) {
	const begin = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: mine, title: a file}
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups: [{name: workers, nodes: 2, members: [{name: a}, {name: b}]}]
`
	for text, want := range map[string]string{
		"workloads: [{name: web, replicas: 1, pods: [{name: web-1, node: a}]}]\nfaults: [{at: 1m, createWorkload: {workload: web}}]": "which has pods at 0s",
		`roll: {strategy: plain, soak: 10m}`: "soak",
		"workloads: [{name: web, kind: ReplicaSet, replicas: 1, podSpec: {containers: [{name: app}]}}]\nroll: {strategy: inplace-image, workload: web, image: a:2}": "whose pods are in a podSpec",
		"workloads: [{name: web, replicas: 1, podSpec: {containers: [{name: app}]}}]\nfaults: [{at: 1m, crash: {workload: web, container: web}}]":                   "container",
	} {
		d, err := spec.Parse("mine.yaml", []byte(begin+text+"\n"))
		if err == nil {
			_, err = d.Resolve(nil, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want an error with %q", text, err, want)
		}
	}
	f := resolved(t, begin+"workloads: [{name: web, replicas: 1, podSpec: {containers: [{name: app, image: shop/app:3}]}}]\nfaults: [{at: 1m, crash: {workload: web, container: app}}]\n")
	if got := f.Workloads[0].Image; got != "shop/app:3" {
		t.Errorf("a fault of the workload's image breaks %s, want shop/app:3", got)
	}
}
