package roll_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
)

// deploy adds a workload to the namespace shop at 0s.
func (c *cluster) deploy(kind controllers.WorkloadKind, name string, replicas int, change func(*controllers.PodTemplate)) {
	c.Helper()
	w := controllers.Workload{Kind: kind, Namespace: "shop", Name: name, Replicas: replicas, Template: placing.App(name, 100)}
	if change != nil {
		change(&w.Template)
	}
	if err := c.workloads.Add(w); err != nil {
		c.Fatal(err)
	}
}

// TestKarpenterBudgetOfATenth counts the nodes that there are: of ten and the replacement of one, two
// may go at once, so that the second one doesn't wait for the drain of the first. Of four, and five, one goes.
func TestKarpenterBudgetOfATenth(t *testing.T) {
	for _, nodes := range []int{4, 10} {
		c := clusterOf(t, "karpenter-drift", func(s *spec) { s.nodes, s.pods = nodes, 0 }, func(c *roll.Config) {
			c.BudgetOf = func(n int) int { return (n + 9) / 10 }
		})
		c.deploy(controllers.Deployment, "slow", 3*nodes, func(p *controllers.PodTemplate) {
			p.GraceSeconds, p.Traits = 180, &component.PodTraits{Stop: model.Fixed(2 * time.Minute)}
		})
		asked := c.shutdowns()
		c.rolled(12 * time.Hour)
		tainted := c.disrupted()
		if len(tainted) != nodes {
			t.Fatalf("%d of %d nodes were disrupted\n%s", len(tainted), nodes, c.brief())
		}
		if first := tainted[0].name; nodes == 10 && (tainted[1].at < c.moved("ready")[0].at || tainted[1].at >= asked[first]) {
			t.Errorf("the second node was disrupted at %v, want that between %v, when the first replacement was Ready, and %v, when the first machine was terminated",
				tainted[1].at, c.moved("ready")[0].at, asked[first])
		}
		for k := 1; nodes == 4 && k < nodes; k++ {
			if last := tainted[k-1].name; tainted[k].at < asked[last] {
				t.Errorf("node %d of 4 was disrupted at %v, before the machine of the one before was terminated at %v", k, tainted[k].at, asked[last])
			}
		}
	}
}

// TestKarpenterReplacesWhereVolumesAre launches each replacement in the zone of the volumes of the node's pods, so that
// none of them waits for another node.
func TestKarpenterReplacesWhereVolumesAre(t *testing.T) {
	c := clusterOf(t, "karpenter-drift", func(s *spec) { s.nodes, s.zones, s.pods = 3, 3, 0 }, func(c *roll.Config) { c.At = 10 * time.Minute })
	c.deploy(controllers.StatefulSet, "db", 3, func(p *controllers.PodTemplate) {
		p.Volume = "data"
		p.Spread = []kube.Spread{{MaxSkew: 1, TopologyKey: component.LabelZone, WhenUnsatisfiable: "DoNotSchedule", Selector: p.Labels}}
	})
	launched := map[string]int{}
	c.Cloud.Watch(func(change cloud.Change, i *cloud.Instance) {
		if change == cloud.Launched {
			launched[i.Zone]++
		}
	})
	c.rolled(6 * time.Hour)
	want := map[string]int{"us-east-1a": 1, "us-east-1b": 1, "us-east-1c": 1}
	if nominated := c.reported("Nominated"); !maps.Equal(launched, want) || len(nominated) > 0 {
		t.Errorf("launches %v, want %v; nominated %+v\n%s", launched, want, nominated, c.brief())
	}
}

// TestWhatBlocksADisruption rolls one node with one pod: pods that nobody evicts block, too, if they say so, and budgets
// block only where an eviction would ask them.
func TestWhatBlocksADisruption(t *testing.T) {
	forbids := func(p *controllers.PodTemplate) {
		p.Annotations = kube.PairsOf(kube.Pair{Key: "karpenter.sh/do-not-disrupt", Value: "true"})
	}
	tolerates := func(p *controllers.PodTemplate) { p.Tolerations = []kube.Toleration{{Operator: "Exists", Seconds: -1}} }
	unready := func(p *controllers.PodTemplate) { p.Traits = &component.PodTraits{StartReady: model.Fixed(time.Hour)} }
	zero, blocks := []kube.Budget{{MinAvailable: "1"}}, "Pdb prevents pod evictions (PodDisruptionBudget=shop/one-0)"
	for name, test := range map[string]struct {
		kind    controllers.WorkloadKind // "" is a Deployment
		change  func(*controllers.PodTemplate)
		budgets []kube.Budget
		want    string // how the reason begins, "" for none
	}{
		"a DaemonSet's pod":               {kind: controllers.DaemonSet, change: forbids, want: `Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=shop/one-`},
		"a budget of 0":                   {budgets: zero, want: blocks},
		"a pod that tolerates everything": {change: tolerates, budgets: zero},
		"an unready pod":                  {change: unready, budgets: zero, want: blocks},
		"an unready pod that may go":      {change: unready, budgets: []kube.Budget{{MinAvailable: "1", UnhealthyPodEvictionPolicy: "AlwaysAllow"}}},
		"two budgets that allow it":       {budgets: []kube.Budget{{MinAvailable: "0"}, {MinAvailable: "0"}}, want: "Eviction does not support multiple PDBs (PodDisruptionBudget=shop/one-0)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := clusterOf(t, "karpenter-drift", func(s *spec) { s.nodes, s.zones, s.pods = 1, 1, 0 }, func(c *roll.Config) { c.At = 2 * time.Minute })
			c.deploy(cmp.Or(test.kind, controllers.Deployment), "one", 1, test.change)
			for i, b := range test.budgets {
				b.Namespace, b.Name, b.Selector = "shop", fmt.Sprint("one-", i), kube.PairsOf(kube.Pair{Key: "app", Value: "one"})
				if err := c.API.CreateBudget(&b); err != nil {
					t.Fatal(err)
				}
			}
			c.run(4 * time.Minute)
			why := ""
			if blocked := c.reported("DisruptionBlocked"); len(blocked) > 0 {
				why = blocked[0].message
			}
			if n := len(c.disrupted()); !strings.HasPrefix(why, test.want) || (why == "") != (test.want == "") || (n > 0) != (why == "") {
				t.Errorf("%q blocks, %d nodes were disrupted: want %q", why, n, test.want)
			}
		})
	}
}

// TestKarpenterKeepsTheNodeOfAPodWithoutAPlace leaves a node whose pod no other node would take, present or new, and replaces the others. It
// goes once there is one.
func TestKarpenterKeepsTheNodeOfAPodWithoutAPlace(t *testing.T) {
	c := clusterOf(t, "karpenter-drift", func(s *spec) { s.nodes, s.zones, s.pods = 3, 1, 0 }, func(c *roll.Config) { c.At = 2 * time.Minute })
	fast := kube.PairsOf(kube.Pair{Key: "example.com/disk", Value: "fast"})
	label := func(n *kube.Node) {
		c.API.UpdateNode(n, func(n *kube.Node) { n.Labels = n.Labels.With("example.com/disk", "fast") })
	}
	keeps := c.API.Nodes()[0]
	label(keeps)
	c.deploy(controllers.Deployment, "cache", 1, func(p *controllers.PodTemplate) { p.NodeSelector = fast })
	c.run(2 * time.Hour)
	blocked := slices.DeleteFunc(c.reported("DisruptionBlocked"), func(e event) bool { return e.kind != "Node" })
	tainted := c.disrupted()
	const before, why = "Not all pods would schedule, shop/cache-", " => node(s) didn't match Pod's node affinity/selector"
	if len(blocked) == 0 || blocked[0].name != keeps.Name || !strings.HasPrefix(blocked[0].message, before) || !strings.HasSuffix(blocked[0].message, why) {
		t.Fatalf("found %+v, want a disruption that is blocked by cache", blocked)
	}
	if len(tainted) != 2 || slices.ContainsFunc(tainted, func(m move) bool { return m.name == keeps.Name }) {
		t.Fatalf("disrupted %+v, want the nodes beside %s", tainted, keeps.Name)
	}
	for _, n := range c.API.Nodes() {
		if n != keeps {
			label(n)
			break
		}
	}
	c.rolled(4 * time.Hour)
}
