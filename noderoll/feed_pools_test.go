package noderoll_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// A pool that isn't rolled doesn't hold up the completion of one that is.
func TestFeedCompletesByPool(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(gpu("z", "ami-gpu")).node(feedNode("a", oldImage)).settle().node(feedNode("b", newImage)).gone("a")
	s.want(
		"T+3.000s     online      b",
		"T+4.000s     terminated  a",
		"T+4.000s     complete    -                 1 node on target",
	)
}

// A pool in which a node was cordoned and uncordoned doesn't roll: it holds up no other's end.
func TestFeedCompletesBesideAnUncordonedNode(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(gpu("y", "ami-gpu")).node(gpu("z", "ami-gpu")).node(feedNode("a", oldImage)).settle()
	s.node(gpu("z", "ami-gpu", cordon)).node(gpu("z", "ami-gpu")).node(feedNode("b", newImage)).gone("a")
	s.want(
		"T+4.000s     cordoned    z",
		"T+5.000s     online      z",
		"T+6.000s     online      b",
		"T+7.000s     terminated  a",
		"T+7.000s     complete    -                 1 node on target",
	)
}

// Two pools that roll at once are complete together, with the nodes of both.
func TestFeedCompletesPoolsTogether(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).node(gpu("z", oldImage)).settle()
	s.node(feedNode("b", newImage)).node(gpu("y", newImage)).gone("a").gone("z")
	s.want(
		"T+3.000s     online      b",
		"T+4.000s     online      y",
		"T+5.000s     terminated  a",
		"T+6.000s     terminated  z",
		"T+6.000s     complete    -                 2 nodes on target",
	)
}

func TestFeedPicksItsGroup(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{StateOptions: noderoll.StateOptions{Pool: group}})
	foreign := feedNode("z", newImage)
	foreign.Labels[noderoll.LabelNodegroup] = "others"
	s.settle().node(foreign).node(feedNode("a", oldImage))
	// Once in scope, a node stays there.
	moved := feedNode("a", oldImage, cordon)
	moved.Labels[noderoll.LabelNodegroup] = "others"
	s.node(moved)
	s.want("T+2.000s     online      a", "T+3.000s     cordoned    a")
}

// gpu is a node of a second pool.
func gpu(name, image string, change ...func(*noderoll.Node)) noderoll.Node {
	n := feedNode(name, image, change...)
	n.Labels[noderoll.LabelNodegroup] = "gpu"
	return n
}

// disrupted is the NodeClaim of a node that Karpenter takes for a reason.
func disrupted(node, reason string) noderoll.Machine {
	return noderoll.Machine{Kind: "NodeClaim", Name: node + "-claim", Node: node, Conditions: []noderoll.MachineCondition{
		{Type: "DisruptionReason", Status: "True", Reason: reason},
	}}
}

func unneeded(n *noderoll.Node) {
	cordon(n)
	n.TaintKeys = []string{"ToBeDeletedByClusterAutoscaler"}
}

// A pool that is scaled down doesn't roll: it holds up no other's end, and its next roll is over at its new size.
func TestFeedCompletesBesideAScaleDown(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(gpu("x", oldImage)).node(gpu("y", oldImage)).node(feedNode("a", oldImage)).settle()
	s.node(gpu("y", oldImage, unneeded)).gone("y")
	s.node(feedNode("b", newImage)).gone("a")
	s.node(gpu("w", newImage)).gone("x")
	s.want(
		"T+4.000s     draining    y",
		"T+5.000s     terminated  y",
		"T+6.000s     online      b",
		"T+7.000s     terminated  a",
		"T+7.000s     complete    -                 1 node on target",
		"T+8.000s     online      w",
		"T+9.000s     terminated  x",
		"T+9.000s     complete    -                 1 node on target",
	)
}

// Karpenter says by a NodeClaim why it takes a node, after it has tainted it.
func TestFeedCompletesBesideAConsolidation(t *testing.T) {
	for _, test := range []struct {
		reason   string
		complete bool
		last     string // what is seen to go last
	}{{"Empty", true, "claim"}, {"Underutilized", true, "claim"}, {"Underutilized", true, "node"}, {"Drifted", false, "claim"}} {
		s := newStory(t, noderoll.FeedOptions{})
		s.node(gpu("y", oldImage)).node(gpu("z", oldImage)).node(feedNode("a", oldImage)).settle()
		s.node(gpu("z", oldImage, cordon))
		claim := disrupted("z", test.reason)
		s.take(s.feed.SetMachine(s.at, claim))
		if test.last == "node" {
			s.take(s.feed.DeleteMachine(s.at, claim.Kind, "", claim.Name))
		}
		s.later(time.Second).gone("z")
		s.take(s.feed.DeleteMachine(s.at, claim.Kind, "", claim.Name))
		s.node(feedNode("b", newImage)).gone("a")
		lines := []string{
			"T+4.000s     cordoned    z",
			"T+6.000s     terminated  z",
			"T+7.000s     online      b",
			"T+8.000s     terminated  a",
		}
		if test.complete {
			lines = append(lines, "T+8.000s     complete    -                 1 node on target")
		}
		s.want(lines...)
	}
}

// A scale-down that is given up leaves the node to the roll.
func TestFeedCompletesAfterAScaleDownThatWasGivenUp(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).node(feedNode("b", oldImage)).settle()
	s.node(feedNode("b", oldImage, unneeded)).node(feedNode("b", oldImage))
	s.node(feedNode("c", newImage)).gone("a").node(feedNode("d", newImage)).gone("b")
	s.want(
		"T+3.000s     draining    b",
		"T+4.000s     online      b",
		"T+5.000s     online      c",
		"T+6.000s     terminated  a",
		"T+7.000s     online      d",
		"T+8.000s     terminated  b",
		"T+8.000s     complete    -                 2 nodes on target",
	)
}

// A pool that has only got more nodes of the same image is no roll once it has been still. The next one replaces all.
func TestFeedCompletesBesideAScaleUp(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(gpu("x", oldImage)).node(feedNode("a", oldImage)).settle()
	s.node(gpu("y", oldImage))
	s.node(feedNode("b", newImage)).gone("a")
	s.take(s.later(noderoll.StillAfter).feed.Advance(s.at))
	s.node(gpu("v", newImage)).gone("x").node(gpu("w", newImage)).gone("y")
	s.want(
		"T+3.000s     online      y",
		"T+4.000s     online      b",
		"T+5.000s     terminated  a",
		"T+5m03.000s  complete    -                 1 node on target",
		"T+5m06.000s  online      v",
		"T+5m07.000s  terminated  x",
		"T+5m08.000s  online      w",
		"T+5m09.000s  terminated  y",
		"T+5m09.000s  complete    -                 2 nodes on target",
	)
}

// A smaller node that takes the place of all is no roll either.
func TestFeedOfAConsolidationOfAll(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(gpu("z", oldImage)).settle()
	s.node(gpu("z", oldImage, cordon))
	s.take(s.feed.SetMachine(s.at, disrupted("z", "Underutilized")))
	s.node(gpu("y", oldImage)).gone("z")
	s.want(
		"T+2.000s     cordoned    z",
		"T+3.000s     online      y",
		"T+4.000s     terminated  z",
	)
}

// Who cordons and drains all nodes may leave it to cluster-autoscaler to take them: that is a roll.
func TestFeedOfNodesThatWereDrainedBefore(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(gpu("y", oldImage)).node(feedNode("a", oldImage)).settle()
	s.node(gpu("y", oldImage, cordon)).node(gpu("y", oldImage, unneeded)).node(feedNode("b", newImage)).gone("a")
	s.node(gpu("x", newImage)).gone("y")
	s.want(
		"T+3.000s     cordoned    y",
		"T+4.000s     draining    y",
		"T+5.000s     online      b",
		"T+6.000s     terminated  a",
		"T+7.000s     online      x",
		"T+8.000s     terminated  y",
		"T+8.000s     complete    -                 2 nodes on target",
	)
}
