package scheduler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

// Room that is kept for a pod isn't kept from a more important one: that one gets the place of the same victim, and ends
// nobody else, and the first one looks for another victim.
func TestRoomIsNotKeptFromTheMoreImportant(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	pod := func(name string, priority int32) *kube.Pod {
		p := client(t, c, name, name, 1900, nil, func(p *kube.Pod) { p.Template.Priority = priority })
		c.RunTo(t, c.Now()+200*time.Millisecond)
		return p
	}
	old, young := pod("old", 0), pod("young", 0)
	c.API.UpdatePod(young, func(p *kube.Pod) { p.Started = c.API.Now() })
	middle := pod("middle", 100)
	if middle.Nominated != "n1" || !young.Terminating() {
		t.Fatalf("middle is nominated for %q, young goes: %t", middle.Nominated, young.Terminating())
	}
	dns := pod("dns", 1000)
	if middle.Nominated != "" || dns.Nominated != "n1" || old.Terminating() {
		t.Errorf("middle is nominated for %q, dns for %q, old goes: %t, want dns alone for n1, and old to stay", middle.Nominated, dns.Nominated, old.Terminating())
	}
	c.RunTo(t, c.Now()+20*time.Second)
	want := []string{"Pod Preempted by pod " + middle.UID + " on node n1", "Pod Preempted by pod " + middle.UID + " on node n1"}
	if diff := cmp.Diff(want, c.Reports("Preempted")); diff != "" || dns.NodeName != "n1" || middle.NodeName != "n1" {
		t.Errorf("dns on %q, middle on %q, %s", dns.NodeName, middle.NodeName, diff)
	}
}
