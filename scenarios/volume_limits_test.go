package scenarios

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/timeline"
)

// A node takes as many volumes as its instance type says: the second pod with a disk waits where there is one node for one.
func TestAMachineLimitsVolumes(t *testing.T) {
	doc, err := Parse("limits.yaml", []byte(`apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: limits, title: nodes that take few volumes}
timeLimit: 3h
cluster:
  provider: eks
  instanceTypes:
  - {name: m5.large, allocatable: {cpu: 1930m, memory: 7134420Ki, pods: 29, attachable-volumes-csi-ebs.csi.aws.com: 1}}
groups: [{name: workers, nodes: 1}]
workloads: [{name: db, kind: StatefulSet, namespace: shop, replicas: 2, volume: 1Gi}]
`))
	if err != nil {
		t.Fatal(err)
	}
	f, err := doc.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pods := map[string]corev1.Pod{}
	s, err := f.Simulate(func(ev timeline.Event) error {
		if ev.Resource == "pods" && ev.Namespace == "shop" && ev.Type == timeline.Added {
			return decode(pods, ev)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Step(time.Minute); err != nil {
		t.Fatal(err)
	}
	if pods["db-0"].Spec.NodeName == "" || pods["db-1"].Spec.NodeName != "" {
		t.Errorf("db-0 on %q, db-1 on %q, want the first alone on a node", pods["db-0"].Spec.NodeName, pods["db-1"].Spec.NodeName)
	}
	if p := s.env.API.Pod("shop", "db-1"); !strings.Contains(p.Conditions.Get("PodScheduled").Message, "1 node(s) exceed max volume count") {
		t.Errorf("db-1 waits with %+v", p.Conditions)
	}
}
