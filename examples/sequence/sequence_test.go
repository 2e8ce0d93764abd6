package sequence

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/hunt/hunttest"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

const cluster = `
apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: sequence, title: three nodes}
cluster: {provider: eks}
groups: [{name: workers, nodes: 3}]
workloads: [{name: web, namespace: shop, replicas: 4, requests: {cpu: 100m}}]
`

// searched are clusters in which nodes are deleted or boot, or pods crash.
func searched(t *testing.T) hunttest.Config {
	t.Helper()
	d, err := scenarios.Parse("sequence", []byte(cluster))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return hunttest.Config{File: f, NoRoll: true, Faults: []string{"delete", "reboot", "crash"}, Checks: 40, Tries: 60}
}

// drains asks for a drain of every node, and wants each to be drained within twenty minutes.
func drains(skips bool) hunttest.Body {
	return func(t hunttest.TB, c *simtest.Cluster) {
		m := c.Manager(ctrl.Options{})
		if err := (&Sequence{SkipsGone: skips}).SetupWithManager(m); err != nil {
			t.Fatal(err)
		}
		for _, node := range c.Nodes() {
			node.Labels[Wanted] = "yes"
			if err := c.Client.Update(t.Context(), &node); err != nil {
				t.Fatal(err)
			}
		}
		c.Start(m)
		var nodes corev1.NodeList
		c.Eventually(20*time.Minute, "every node to be drained", func() bool {
			if err := c.Client.List(t.Context(), &nodes); err != nil {
				t.Fatal(err)
			}
			for i := range nodes.Items {
				if nodes.Items[i].Labels[Wanted] != "" {
					return false
				}
			}
			return true
		})
	}
}

// The sequence that skips nodes which are gone drains all others, whatever happens.
func TestNodesThatAreGoneAreSkipped(t *testing.T) {
	c := searched(t)
	c.Checks = 15
	hunttest.Check(t, c, drains(true))
}

// The one that doesn't waits for ever, which the search shows in the smallest cluster in which it can.
func TestTheSearchFindsTheBug(t *testing.T) {
	found := hunttest.Search(t, searched(t), drains(false))
	if found == nil {
		t.Fatal("nothing was found")
	}
	f, err := hunt.Read([]byte(found.File))
	if err != nil {
		t.Fatal(err)
	}
	if f.Nodes() > 3 || len(f.Faults) != 1 || f.Faults[0].Delete == nil || !strings.HasPrefix(found.Small.Text, "wait for every node to be drained") {
		t.Errorf("%s, %s:\n%s", found.Small.Text, found.Size, found.File)
	}
}
