package drainer

import (
	"testing"
	"testing/synctest"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

func TestMain(m *testing.M) { golden.Main(m) }

func TestDrainedPodsRunElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")))
		m := c.Manager(ctrl.Options{})
		if err := (&Drainer{}).SetupWithManager(m); err != nil {
			t.Fatal(err)
		}
		c.Start(m)
		node := c.Nodes()[0]
		node.Labels[Wanted] = "yes"
		if err := c.Client.Update(t.Context(), &node); err != nil {
			t.Fatal(err)
		}
		c.Eventually(10*time.Minute, "all pods of web to run on other nodes", func() bool {
			return len(c.Pods("shop", "app=web", node.Name)) == 0 && c.Ready("shop", "app=web") == 12
		})
		golden.Assert(t, "drain", c.Feed())
	})
}
