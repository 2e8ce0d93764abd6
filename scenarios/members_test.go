package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/nodesim/nodesim/timeline"
)

const ofSomebody = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: own, title: a cluster that somebody has read}
timeLimit: 3h
cluster:
  provider: eks
  zones: [eu-central-1a, eu-central-1b]
  instanceTypes:
  - {name: m5.large, allocatable: {cpu: 1930m, memory: 7134420Ki, pods: 29, example.com/fpga: 2}}
groups:
- name: workers
  nodes: 3
  members:
  - {name: alpha, zone: eu-central-1a, age: 36h, labels: {disk: nvme}}
  - {name: beta, zone: eu-central-1b, cordoned: true}
  - {name: gamma, zone: eu-central-1b, taints: [{key: example.com/hot, effect: NoSchedule}]}
workloads:
- name: web
  namespace: shop
  replicas: 3
  podLabels: {tier: front}
  podSpec:
    terminationGracePeriodSeconds: 5
    nodeSelector: {disk: nvme}
    containers: [{name: app, resources: {limits: {cpu: 100m, memory: 64Mi, example.com/fpga: 1}}}]
  pods: [{name: web-abc-00001, node: alpha}, {name: web-abc-00002, node: beta}]
- name: db
  kind: StatefulSet
  namespace: shop
  replicas: 2
  volume: 1Gi
  pods: [{name: db-1, node: gamma}, {name: db-0, zone: eu-central-1a}]
budgets:
- {name: front, namespace: shop, selector: {matchExpressions: [{key: tier, operator: In, values: [front]}]}, minAvailable: 2}
`

// A cluster that somebody has read begins as the file says: nodes by their names, pods where they were, budgets by their selectors.
func TestMembersAndPlacedPods(t *testing.T) {
	doc, err := Parse("own.yaml", []byte(ofSomebody))
	if err != nil {
		t.Fatal(err)
	}
	f, err := doc.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	nodes, pods, budgets := map[string]corev1.Node{}, map[string]corev1.Pod{}, map[string]policyv1.PodDisruptionBudget{}
	s, err := f.Simulate(func(ev timeline.Event) error {
		if ev.Type != timeline.Added || ev.At > 0 {
			return nil
		}
		switch ev.Resource {
		case "nodes":
			return decode(nodes, ev)
		case "pods":
			if ev.Namespace == "shop" { // not those of the provider's agents
				return decode(pods, ev)
			}
		case "poddisruptionbudgets":
			return decode(budgets, ev)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Step(time.Millisecond); err != nil {
		t.Fatal(err)
	}
	alpha, beta, gamma := nodes["alpha"], nodes["beta"], nodes["gamma"]
	if len(nodes) != 3 || alpha.Labels["disk"] != "nvme" || alpha.Labels[corev1.LabelHostname] != "alpha" || alpha.Labels[corev1.LabelTopologyZone] != "eu-central-1a" {
		t.Errorf("%d nodes, alpha with labels %v", len(nodes), alpha.Labels)
	}
	if age := f.Start.Sub(alpha.CreationTimestamp.Time); age != 36*time.Hour {
		t.Errorf("alpha is %s old, want 36h", age)
	}
	if q := alpha.Status.Allocatable["example.com/fpga"]; q.Value() != 2 || alpha.Status.Allocatable.Cpu().MilliValue() != 1930 || alpha.Status.Allocatable.Pods().Value() != 29 {
		t.Errorf("alpha reports %v", alpha.Status.Allocatable)
	}
	if !beta.Spec.Unschedulable || !slices.ContainsFunc(beta.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable }) {
		t.Errorf("beta isn't cordoned: %v", beta.Spec)
	}
	if !slices.ContainsFunc(gamma.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "example.com/hot" }) {
		t.Errorf("gamma has the taints %v", gamma.Spec.Taints)
	}
	placed := map[string]string{}
	for name := range pods {
		placed[name] = pods[name].Spec.NodeName
	}
	third := ""
	for name, node := range placed {
		if strings.HasPrefix(name, "web-abc-") && !strings.HasPrefix(name, "web-abc-0000") {
			third = node
			delete(placed, name)
		}
	}
	want := map[string]string{"web-abc-00001": "alpha", "web-abc-00002": "beta", "db-1": "gamma", "db-0": "alpha"}
	if fmt.Sprint(placed) != fmt.Sprint(want) || third != "alpha" {
		t.Errorf("pods are at %v, and the third at %q, want %v, and alpha, which alone has the label", placed, third, want)
	}
	web := pods["web-abc-00001"]
	if q := web.Spec.Containers[0].Resources.Requests["example.com/fpga"]; q.Value() != 1 || *web.Spec.TerminationGracePeriodSeconds != 5 || web.OwnerReferences[0].Name != "web-abc" {
		t.Errorf("a pod of web is %v of %v", web.Spec, web.OwnerReferences)
	}
	if b := budgets["front"]; b.Status.ExpectedPods != 3 || b.Status.CurrentHealthy != 3 || b.Status.DisruptionsAllowed != 1 {
		t.Errorf("the budget counts %+v", b.Status)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
}

func decode[T any](into map[string]T, ev timeline.Event) error {
	var one T
	err := json.Unmarshal(ev.Object, &one)
	into[ev.Name] = one
	return err
}
