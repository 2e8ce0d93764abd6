package noderoll_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// A drainer's own mark makes a node draining, with its cordon or after it. A taint that
// only says that the node shall go leaves it cordoned.
func TestMarksOfDrainersAreEvidence(t *testing.T) {
	tainted := func(key string) func(*noderoll.Node) {
		return func(n *noderoll.Node) { n.TaintKeys = append(n.TaintKeys, key) }
	}
	deleting := func(n *noderoll.Node) { n.Deleting = true }
	for name, tc := range map[string]struct {
		mark  []func(*noderoll.Node)
		drain bool
	}{
		"cluster-autoscaler":                     {[]func(*noderoll.Node){tainted("ToBeDeletedByClusterAutoscaler")}, true},
		"cluster-autoscaler, with a suffix":      {[]func(*noderoll.Node){tainted("ToBeDeletedByClusterAutoscaler-x")}, true},
		"a candidate of cluster-autoscaler":      {[]func(*noderoll.Node){tainted("DeletionCandidateOfClusterAutoscaler")}, false},
		"Karpenter":                              {[]func(*noderoll.Node){tainted("karpenter.sh/disrupted"), deleting}, true},
		"Karpenter before 1.0":                   {[]func(*noderoll.Node){tainted("karpenter.sh/disruption"), deleting}, true},
		"Karpenter, before the node's deletion":  {[]func(*noderoll.Node){tainted("karpenter.sh/disrupted")}, false},
		"a deletion without Karpenter's taint":   {[]func(*noderoll.Node){deleting}, false},
		"the node termination handler's own one": {[]func(*noderoll.Node){tainted("aws-node-termination-handler/spot-itn")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			marked := append([]func(*noderoll.Node){cordon}, tc.mark...)
			s := newStory(t, noderoll.FeedOptions{})
			s.node(feedNode("a", oldImage)).node(feedNode("b", oldImage)).settle()
			s.node(feedNode("a", oldImage, cordon)).node(feedNode("a", oldImage, marked...)).node(feedNode("b", oldImage, marked...))
			want := []string{"T+3.000s     cordoned    a", "T+5.000s     cordoned    b"}
			if tc.drain {
				want = []string{"T+3.000s     cordoned    a", "T+4.000s     draining    a", "T+5.000s     draining    b"}
			}
			s.want(want...)
		})
	}
}

// An Event by which a drainer says that it begins makes a cordoned node draining; other
// Events don't, and neither does one of another node.
func TestEventsOfDrainersAreEvidence(t *testing.T) {
	for name, tc := range map[string]struct {
		typ, kind, object, reason string
		drain                     bool
	}{
		"AKS":                          {"Normal", "Node", "a", "Drain", true},
		"AKS, of another node":         {"Normal", "Node", "b", "Drain", false},
		"a warning of that reason":     {"Warning", "Node", "a", "Drain", false},
		"Karpenter":                    {"Warning", "Node", "a", "FailedDraining", true},
		"Karpenter, of its NodeClaim":  {"Warning", "NodeClaim", "a", "FailedDraining", false},
		"AKS, once the drain is over":  {"Normal", "Node", "a", "Upgrade", false},
		"kubectl's cordon, by kubelet": {"Normal", "Node", "a", "NodeNotSchedulable", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, noderoll.FeedOptions{})
			s.node(feedNode("a", oldImage)).node(feedNode("b", oldImage)).settle()
			s.node(feedNode("a", oldImage, cordon))
			s.take(s.feed.SetEvent(s.at, noderoll.EventRecord{Namespace: "default", Name: "e", Type: tc.typ, Kind: tc.kind, ObjectName: tc.object, Reason: tc.reason}))
			var drains []string
			for _, line := range s.lines {
				if strings.Contains(line, "draining") {
					drains = append(drains, line)
				}
			}
			var want []string
			if tc.drain {
				want = []string{"T+4.000s     draining    a"}
			}
			if d := cmp.Diff(want, drains); d != "" || s.lines[0] != "T+3.000s     cordoned    a" {
				t.Errorf("feed %q (-want +got):\n%s", s.lines, d)
			}
		})
	}
}
