package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
)

// onePodPerNode is a file whose autoscaler is nodemanager.
const onePodPerNode = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: jobs, title: each job has a node of its own}
timeLimit: 1h
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups:
- {name: workers, nodes: 3}
- {name: runners, nodes: 2}
workloads:
- {name: web, namespace: shop}
- {name: job, group: runners, createAt: 1m}
autoscaler:
  kind: nodemanager
  groups: [runners]
  standby: [{group: runners, count: 2}]
`

// What can't be where nodes are launched for single pods is named.
func TestMistakesOfNodeManager(t *testing.T) {
	if _, err := Parse("f.yaml", []byte(onePodPerNode)); err != nil {
		t.Fatal(err)
	}
	const rolled = "roll: {strategy: eks-default, groups: [%s]}\nautoscaler:\n"
	if _, err := Parse("f.yaml", []byte(strings.Replace(onePodPerNode, "autoscaler:\n", fmt.Sprintf(rolled, "workers"), 1))); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, m := range []mistake{
		{"no such kind", "kind: nodemanager", "kind: nodemanger"},
		{"a provider with objects", "provider: eks", "provider: karpenter"},
		{"a roll of its nodes", "autoscaler:\n", fmt.Sprintf(rolled, "workers, runners")},
		{"a DaemonSet", "{name: job,", "{name: job, kind: DaemonSet,"},
		{"pods from the start", ", createAt: 1m", ""},
	} {
		fmt.Fprintf(&all, "%s\n\t%v\n", m.name, mistaken(t, edited(t, onePodPerNode, m)))
	}
	golden.Assert(t, "nodemanager-errors", all.String())
}
