package roll_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
)

// TestSurplus launches four more nodes while an old one is still to go,
// as for pods that have no place for a while. When the last old one is gone those that
// are empty go as well, those that are little used after them, and the roll is
// complete.
func TestSurplus(t *testing.T) {
	c := clusterOf(t, "karpenter-drift", nil, nil)
	most, launched := 0, false
	c.API.WatchNodes(func(change kube.Change, _, n *kube.Node) {
		most = max(most, len(c.API.Nodes()))
		if launched || change != kube.Modified || !c.old[n.UID] || !n.Terminating() {
			return
		}
		others := 0
		for _, other := range c.API.Nodes() {
			if other != n && c.old[other.UID] && !other.Terminating() {
				others++
			}
		}
		if others != 1 {
			return
		}
		launched = true
		for range 4 {
			if _, err := c.Cloud.Launch(c.group, "us-east-1a", c.to); err != nil {
				t.Error(err)
			}
		}
		c.After(70*time.Second, c.karpenter.SeedNodeClaims)
	})
	out := c.rolled(6 * time.Hour)
	if out.Failed || most < 6 || len(c.API.Nodes()) != 4 {
		t.Errorf("%+v: at most %d nodes, %d in the end: want 6 or more, and 4\n%s", out, most, len(c.API.Nodes()), c.brief())
	}
	var why []string
	for _, e := range c.reported("DisruptionTerminating") {
		if reason, ok := strings.CutPrefix(strings.TrimSuffix(e.message, "/Delete"), "Disrupting Node: "); ok && !slices.Contains(why, reason) {
			why = append(why, reason)
		}
	}
	if want := []string{"Drifted", "Empty", "Underutilized"}; !slices.Equal(why, want) {
		t.Errorf("nodes go for %q, want %q in this order", why, want)
	}
}

// TestPodsShareNodesOnTheirWay has pods wait one after another, while a node for the
// first of them is on its way: it has room for all.
func TestPodsShareNodesOnTheirWay(t *testing.T) {
	c := spotCluster(t, model.Karpenter, roll.KarpenterQueue, roll.HandlerConfig{})
	claims := len(c.claims)
	for _, n := range c.API.Nodes() {
		c.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = true })
	}
	for k := range 4 {
		c.After(time.Duration(12*k)*time.Second, func() {
			pods := c.API.PodsOn(c.API.Nodes()[0].Name)
			c.API.DeletePod(pods[slices.IndexFunc(pods, roll.Leaves)], 0)
		})
	}
	c.run(c.Now() + 3*time.Minute)
	var nodes []string
	for _, e := range c.reported("Nominated") {
		if !slices.Contains(nodes, e.message) {
			nodes = append(nodes, e.message)
		}
	}
	if told := len(c.reported("Nominated")); told < 4 || len(nodes) != 1 || len(c.claims) != claims+1 {
		t.Errorf("%d pods are told %q, %d NodeClaims: want 4 pods on one new node", told, nodes, len(c.claims)-claims)
	}
}
