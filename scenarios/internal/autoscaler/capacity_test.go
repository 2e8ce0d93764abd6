package autoscaler_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
)

func TestNoCapacityTriesAnotherGroup(t *testing.T) {
	c := newScaling(t, 0, "cheap 1..9 1=spot", "dear 0..9 0")
	c.scale()
	c.Cloud.Shortage("", "cheap", true)
	c.deploy("web", 6, 900)
	c.run(20 * time.Minute)
	c.wantSizes("cheap 1/1, dear 2/2")
	if c.pending() != 0 {
		t.Errorf("%d pods wait, want none", c.pending())
	}
	c.wantTold(
		"1 ConfigMap Normal ScaledUpGroup: Scale-up: setting group cheap size to 3 instead of 1 (max: 9)",
		"4 Pod Normal TriggeredScaleUp: pod triggered scale-up: [{cheap 1->3 (max: 9)}]",
	)
}

func TestNoCapacityAnywhere(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 1")
	c.scale()
	c.Cloud.Shortage("", "", true)
	refused := 0
	c.Cloud.WatchRefusals(func(*cloud.Group, string) { refused++ })
	c.deploy("web", 6, 900)
	c.run(20 * time.Minute)
	c.wantSizes("workers 1/1")
	told := c.told()
	if n := told["Pod Normal NotTriggerScaleUp: pod didn't trigger scale-up: 1 in backoff after failed scale-up"]; n == 0 {
		t.Errorf("told %v, want a word of the backoff", told)
	}
	// Asked after 5 minutes, 10 and so on, not every ten seconds.
	if refused < 2 || refused > 12 {
		t.Errorf("the provider refused %d launches, want some", refused)
	}
	c.Cloud.Shortage("", "", false)
	c.run(40 * time.Minute)
	c.wantSizes("workers 3/3")
}

func TestMachinesThatNeverJoin(t *testing.T) {
	c := newScaling(t, 0, "broken 0..9 0", "workers 1..9 1")
	c.scale()
	c.Cloud.Watch(func(change cloud.Change, i *cloud.Instance) {
		if change == cloud.Launched && i.Group.Name == "broken" {
			c.After(0, func() { c.Cloud.Ail(i, func(a *cloud.Ailments) { a.UserDataFail = true }) })
		}
	})
	c.deploy("web", 4, 900)
	c.run(14 * time.Minute)
	c.wantSizes("broken 0/1, workers 1/1")
	c.run(8 * time.Minute)
	c.wantSizes("broken 0/1, workers 2/2")
	if c.pending() != 0 {
		t.Errorf("%d pods wait, want none", c.pending())
	}
}

func TestMachinesThatNobodyKeepsAtASize(t *testing.T) {
	c := newScaling(t, 0, "pool 0..6 1=detached")
	c.scale()
	c.deploy("web", 6, 900)
	c.run(10 * time.Minute)
	if n := len(c.groups[0].Instances()); n != 3 || c.pending() != 0 {
		t.Errorf("%d nodes, and %d pods wait; want 3 nodes and none", n, c.pending())
	}
	if err := c.Workloads.Scale("shop", "web", 0); err != nil {
		t.Fatal(err)
	}
	c.run(30 * time.Minute)
	if n := len(c.groups[0].Instances()); n != 0 {
		t.Errorf("%d nodes without a pod, want none", n)
	}
}

func TestNodesOfKwok(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 1=kwok")
	c.scale()
	c.deploy("web", 6, 900) // kwok's nodes keep nothing for themselves: two cores
	c.run(10 * time.Minute)
	c.wantSizes("workers 3/3")
	if err := c.Workloads.Scale("shop", "web", 2); err != nil {
		t.Fatal(err)
	}
	c.run(30 * time.Minute)
	if c.pending() != 0 || c.groups[0].Desired > 2 {
		t.Errorf("%s, and %d pods wait", c.sizes(), c.pending())
	}
}
