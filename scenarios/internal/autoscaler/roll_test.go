package autoscaler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// roll replaces a group's nodes by hand, as EKS does: surge, cordon all old ones,
// empty and terminate one after the other, and shrink again.
func (c *scaling) roll(surge int, between func(done int)) {
	c.Helper()
	g := c.groups[0]
	old := slices.Clone(g.Instances())
	c.Cloud.SetDesired(g, g.Desired+surge)
	c.run(4 * time.Minute)
	for _, i := range old {
		c.API.UpdateNode(c.API.Node(i.Name), func(n *kube.Node) { n.Unschedulable = true })
	}
	c.run(10 * time.Second)
	for k, i := range old {
		between(k)
		for _, p := range slices.Clone(c.API.PodsOn(i.Name)) {
			if p.Owner.Kind != "DaemonSet" {
				c.API.DeletePod(p, kube.OwnGrace)
			}
		}
		c.run(2 * time.Minute)
		c.Cloud.Terminate(i, false)
		c.run(2 * time.Minute)
	}
	c.run(3 * time.Minute)
	young := g.Instances()
	for k := range surge {
		i := young[len(young)-1-k]
		if n := c.API.Node(i.Name); n != nil {
			c.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = true })
			for _, p := range slices.Clone(c.API.PodsOn(i.Name)) {
				c.API.DeletePod(p, kube.OwnGrace)
			}
			c.run(time.Minute)
		}
		c.Cloud.Terminate(i, true)
	}
	c.run(10 * time.Minute)
}

func TestARollWithEnoughRoomDoesntConcernIt(t *testing.T) {
	c := newScaling(t, 0, "workers 1..12 4")
	c.deploy("agent", 0, 100, func(w *controllers.Workload) { w.Kind = controllers.DaemonSet })
	c.deploy("web", 8, 700)
	c.run(time.Minute)
	c.scale()
	c.roll(2, func(int) {})
	c.wantSizes("workers 4/4")
	if c.pending() != 0 {
		t.Errorf("%d pods wait, want none", c.pending())
	}
	c.wantTold()
}

func TestARollWithPodsThatComeMeanwhile(t *testing.T) {
	c := newScaling(t, 0, "workers 1..12 3")
	c.deploy("web", 6, 900)
	c.run(time.Minute)
	c.scale()
	c.roll(2, func(done int) {
		if done == 1 {
			c.deploy("burst", 8, 900)
		}
	})
	// 14 pods, two on a node; the roll is over, and nothing that it brought or
	// took made the autoscaler change its mind.
	if c.pending() != 0 {
		t.Errorf("%d pods wait with %s, want none", c.pending(), c.sizes())
	}
	if n := c.groups[0].Desired; n < 7 || n > 9 {
		t.Errorf("the group wants %d nodes, want 7, and some if it had to hurry", n)
	}
	for line := range c.told() {
		if strings.Contains(line, "ScaleDown") {
			t.Errorf("it said %q during a roll", line)
		}
	}
	c.run(time.Hour)
	if n := c.groups[0].Desired; n < 7 || n > 9 {
		t.Errorf("an hour later the group wants %d nodes", n)
	}
}
