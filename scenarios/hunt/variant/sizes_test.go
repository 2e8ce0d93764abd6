package variant

import (
	"testing"

	"github.com/nodesim/nodesim/scenarios/spec"
)

func fileOf(t *testing.T, text string) *spec.File {
	t.Helper()
	d, err := spec.Parse("file.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const cluster = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: read, title: as a cluster that was read has it}
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups:
- {name: workers, nodes: 3, members: [{name: a, zone: eu-central-1b}, {name: b, zone: eu-central-1a}, {name: c, zone: eu-central-1c}]}
workloads:
- {name: web, replicas: 3, podLabels: {app: web, tier: front}}
- {name: api, replicas: 3, podLabels: {app: api, tier: front}}
budgets:
- {name: front, selector: {matchLabels: {tier: front}}, minAvailable: 5}
roll: {strategy: eks-default}
`

// A budget with a selector allows as many disruptions of the smaller case as of the whole cluster.
func TestBudgetsFollowTheirPods(t *testing.T) {
	f := fileOf(t, cluster)
	scale(f, 0, 1)
	if got := f.Budgets[0].MinAvailable.Value; got != 3 {
		t.Errorf("of four pods found minAvailable %d, want 3", got)
	}
	dropWorkload(f, 0)
	if len(f.Workloads) != 1 || len(f.Budgets) != 1 || f.Budgets[0].MinAvailable.Value != 2 {
		t.Errorf("of three pods found %+v, want minAvailable 2", f.Budgets)
	}
}

// A group keeps the zones of the nodes that stay.
func TestZonesOfNodesThatStay(t *testing.T) {
	f := fileOf(t, cluster)
	resize(f, 0, 1)
	if g := f.Groups[0]; len(g.Members) != 1 || len(g.Zones) != 1 || g.Zones[0] != g.Members[0].Zone {
		t.Errorf("found the zones %v of %+v", g.Zones, g.Members)
	}
}
