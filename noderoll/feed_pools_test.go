package noderoll_test

import (
	"testing"

	"github.com/nodesim/nodesim/noderoll"
)

// A pool that isn't rolled doesn't hold up the completion of one that is.
func TestFeedCompletesByPool(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	resting := feedNode("z", "ami-gpu")
	resting.Labels[noderoll.LabelNodegroup] = "gpu"
	s.node(resting).node(feedNode("a", oldImage)).settle().node(feedNode("b", newImage)).gone("a")
	s.want(
		"T+3.000s     online      b",
		"T+4.000s     terminated  a",
		"T+4.000s     complete    -                 1 node on target",
	)
}

// A pool in which a node was cordoned and uncordoned doesn't roll: it holds up no other's end.
func TestFeedCompletesBesideAnUncordonedNode(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	other := func(name string, change ...func(*noderoll.Node)) noderoll.Node {
		n := feedNode(name, "ami-gpu", change...)
		n.Labels[noderoll.LabelNodegroup] = "gpu"
		return n
	}
	s.node(other("y")).node(other("z")).node(feedNode("a", oldImage)).settle()
	s.node(other("z", cordon)).node(other("z")).node(feedNode("b", newImage)).gone("a")
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
	other := func(name, image string) noderoll.Node {
		n := feedNode(name, image)
		n.Labels[noderoll.LabelNodegroup] = "gpu"
		return n
	}
	s.node(feedNode("a", oldImage)).node(other("z", oldImage)).settle()
	s.node(feedNode("b", newImage)).node(other("y", newImage)).gone("a").gone("z")
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
