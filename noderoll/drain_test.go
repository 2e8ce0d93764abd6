package noderoll_test

import (
	"testing"

	"github.com/nodesim/nodesim/noderoll"
)

// The conditions by which controllers say that they drain a machine's node.
func TestMachineConditions(t *testing.T) {
	for _, tc := range []struct {
		typ, status, reason string
		want                bool
	}{
		{"Deleting", "True", "DrainingNode", true},
		{"Deleting", "True", "WaitingForVolumeDetach", false}, // the drain is over
		{"Deleting", "False", "NotDeleting", false},
		{"DrainingSucceeded", "False", "Draining", true},
		{"DrainingSucceeded", "False", "DrainingFailed", true},
		{"DrainingSucceeded", "True", "", false},
		{"Drained", "Unknown", "Draining", true},
		{"Drained", "False", "Draining", true},
		{"Drained", "True", "Drained", false},
		{"Ready", "False", "Draining", false},
	} {
		m := noderoll.Machine{}
		m.SetCondition(tc.typ, tc.status, tc.reason)
		if m.SetCondition("Ready", "True", ""); m.Draining != tc.want {
			t.Errorf("%s %s %s: draining %t, want %t", tc.typ, tc.status, tc.reason, m.Draining, tc.want)
		}
	}
}

// A machine's word makes a cordoned node draining, before or after the cordon.
func TestMachineIsEvidence(t *testing.T) {
	machine := noderoll.Machine{Kind: "Machine", Namespace: "default", Name: "m", Node: "a", Draining: true}
	set := func(s *story, m noderoll.Machine) *story {
		s.take(s.feed.SetMachine(s.at, m))
		return s
	}
	s := newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).node(feedNode("b", oldImage)).settle()
	s.take(s.feed.Synced(s.at, noderoll.Machines))
	s.node(feedNode("a", oldImage, cordon)) // at 3 s
	idle := machine
	idle.Draining = false
	set(s, idle)
	set(s, machine)
	set(s, machine)
	other := machine
	other.Name, other.Node = "n", "b"
	set(s, other).later(1e9).node(feedNode("b", oldImage, cordon))
	s.want(
		"T+3.000s     cordoned    a",
		"T+4.000s     draining    a",
		"T+5.000s     cordoned    b", // its machine was faster than its cordon
		"T+5.000s     draining    b",
	)

	// Without its machine, and uncordoned, the next cordon is only that.
	s = newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).settle()
	s.take(s.feed.Synced(s.at, noderoll.Machines))
	set(s, machine)
	s.take(s.feed.DeleteMachine(s.at, "Machine", "default", "m"))
	s.take(s.feed.DeleteMachine(s.at, "Machine", "default", "m"))
	s.node(feedNode("a", oldImage, cordon))
	s.want("T+2.000s     cordoned    a")

	// What the first list of machines shows is no news.
	s = newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage, cordon)).settle()
	set(s, machine)
	s.take(s.feed.Synced(s.at, noderoll.Machines))
	s.want()
	if v := s.feed.Snapshot(epoch).Nodes[0]; v.Cordoned {
		t.Error("the node is only cordoned, want it draining")
	}
}
