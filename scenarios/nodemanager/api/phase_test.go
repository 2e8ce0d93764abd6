package api_test

import (
	"fmt"
	"testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

func Example() {
	for _, to := range []api.NodePhase{api.NodeAvailable, api.NodeCreating} {
		fmt.Println("Claimed to", to, api.NodeClaimed.MayBecome(to))
	}
	fmt.Println(api.NodeTerminating.Successors())
	// Output:
	// Claimed to Available true
	// Claimed to Creating false
	// [Terminating Terminated]
}

var lives = []api.NodePhase{
	api.NodeCreating, api.NodeCreated, api.NodeAvailable, api.NodeClaimed, api.NodeCleaning, api.NodeTerminating,
	api.NodeTerminated,
}

func TestPhases(t *testing.T) {
	// One row per phase before, one column per phase after, both in the order of lives.
	table := []string{
		"xxx  xx",
		" xx xxx",
		"  xx xx",
		"  xxxxx",
		"  x xxx",
		"     xx",
		"      x",
	}
	for i, from := range lives {
		for j, to := range lives {
			if got, want := from.MayBecome(to), table[i][j] == 'x'; got != want {
				t.Errorf("%s to %s: found %t, want %t", from, to, got, want)
			}
		}
	}
	if api.NodePhase("Lost").MayBecome(api.NodeTerminated) || len(api.NodePhase("Lost").Successors()) != 0 {
		t.Error("an unknown phase: found successors, want none")
	}
}

func TestLive(t *testing.T) {
	for _, c := range []struct {
		spec, status api.PodPhase
		want         bool
	}{
		{api.PodRunning, api.PodWaiting, true},
		{api.PodTerminated, api.PodRunning, true},
		{api.PodRunning, api.PodFailed, true},
		{api.PodTerminated, api.PodSucceeded, false},
		{api.PodTerminated, api.PodTerminated, false},
	} {
		pod := &api.Pod{Spec: api.PodSpec{Phase: c.spec}, Status: api.PodStatus{Phase: c.status}}
		if got := pod.Live(); got != c.want {
			t.Errorf("wanted %s, is %s: found live %t, want %t", c.spec, c.status, got, c.want)
		}
	}
}

func TestCopiesShareNothing(t *testing.T) {
	node := api.NewNode("a")
	node.Status.Addresses = []api.NetworkAddress{{Type: api.PrivateIP, Address: "10.0.0.1"}}
	c := node.DeepCopy()
	c.Status.Addresses[0].Address = "10.0.0.2"
	c.Spec.Terminate = true
	if node.Status.Addresses[0].Address != "10.0.0.1" || node.Spec.Terminate {
		t.Errorf("a change of the copy shows in the original: %+v", node)
	}
	pod := &api.Pod{}
	pod.DeepCopy().Name = "b"
	if pod.Name != "" {
		t.Errorf("a change of the copy shows in the original: %+v", pod)
	}
}
