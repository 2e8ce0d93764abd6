package roll_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/roll"
)

func eksSpec() spec {
	return spec{nodes: 6, zones: 3, pods: 24, seed: 7, strategy: eksDefault, roll: func(c *roll.Config) {
		c.MaxUnavailable, c.Settle = 1, time.Minute
	}}
}

// TestEKSDefaultIsFourPhases holds the phases against AWS's description: the
// group grows by twice its zones, then all old nodes are cordoned within
// seconds, then they go one by one, each a minute after its last pod, and in the
// end it is new nodes that go.
func TestEKSDefaultIsFourPhases(t *testing.T) {
	c := newCluster(t, eksSpec())
	if out := c.rolled(4 * time.Hour); out.Failed {
		t.Fatalf("%+v\n%s", out, c.story())
	}
	added := c.moved("node-added")
	if len(added) != 6+6 {
		t.Errorf("%d nodes joined, want 6 as surge and 6 for the old ones", len(added))
	}
	ready := c.moved("ready")
	cordoned := c.moved("cordoned")
	if len(cordoned) < 12 {
		t.Fatalf("%d cordons\n%s", len(cordoned), c.story())
	}
	for n, m := range cordoned[:6] {
		if !c.old[m.uid] {
			t.Errorf("cordon %d is of a new node", n)
		}
	}
	if cordoned[0].at < ready[5].at {
		t.Errorf("cordoned at %v, before all six new nodes were ready at %v", cordoned[0].at, ready[5].at)
	}
	if took := cordoned[5].at - cordoned[0].at; took > 2*time.Second {
		t.Errorf("the cordons took %v", took)
	}
	if first := c.moved("evicted")[0]; first.at < cordoned[5].at {
		t.Errorf("evicted at %v, before the last cordon at %v", first.at, cordoned[5].at)
	}
	if n := len(c.moved("excluded true")); n != 12 {
		t.Errorf("%d nodes were taken out of the load balancers, want 12", n)
	}
	deleted := c.moved("node-deleted")
	if len(deleted) != 12 {
		t.Fatalf("%d nodes deleted, want 12\n%s", len(deleted), c.story())
	}
	for n, m := range deleted {
		if c.old[m.uid] != (n < 6) {
			t.Errorf("deletion %d is of %s: the old ones go first, then the surge", n, m.name)
		}
	}
	if n := len(c.API.Nodes()); n != 6 {
		t.Errorf("%d nodes in the end", n)
	}
}

// TestEKSFails is an update that a budget blocks: after a quarter of an hour it
// has failed, or, forced, deletes the pods without a word and completes.
func TestEKSFails(t *testing.T) {
	s := eksSpec()
	s.budget = "24"
	c := newCluster(t, s)
	out := c.rolled(4 * time.Hour)
	if out.Code != "PodEvictionFailure" || out.Reason != "Reached max retries while trying to evict pods from nodes in node group workers" {
		t.Errorf("%+v", out)
	}
	if want := "failed PodEvictionFailure: " + out.Reason; len(c.marks) != 1 || c.marks[0] != want {
		t.Errorf("marks %q, want %q", c.marks, want)
	}
	if n := len(c.moved("evicted")) + len(c.moved("deleted")); n != 0 {
		t.Errorf("%d pods went", n)
	}
	cordon := c.moved("cordoned")
	if waited := c.Now() - 3*time.Minute - cordon[len(cordon)-1].at; waited < 15*time.Minute || waited > 17*time.Minute {
		t.Errorf("failed %v after the cordon", waited)
	}
	if n := len(c.API.Nodes()); n != 12 {
		t.Errorf("%d nodes are left, want old and new ones", n)
	}

	s.roll = func(c *roll.Config) { c.MaxUnavailable, c.Settle, c.Force = 1, time.Minute, true }
	c = newCluster(t, s)
	if out := c.rolled(12 * time.Hour); out.Failed {
		t.Fatalf("%+v\n%s", out, c.story())
	}
	if n := len(c.moved("evicted")); n != 0 {
		t.Errorf("%d pods were evicted against the budget", n)
	}
	if n := len(c.moved("deleted")); n < 24 {
		t.Errorf("%d pods were deleted, want all 24", n)
	}
}

// TestEKSNodesNeverJoin is an update whose new nodes are broken.
func TestEKSNodesNeverJoin(t *testing.T) {
	c := newCluster(t, eksSpec())
	c.Cloud.Watch(brokenUserData(c))
	out := c.rolled(4 * time.Hour)
	if out.Code != "NodeCreationFailure" || !strings.HasSuffix(out.Reason, "new nodes are not joining node group workers") {
		t.Errorf("%+v", out)
	}
	if n := len(c.moved("cordoned")); n != 0 {
		t.Errorf("%d nodes were cordoned", n)
	}
}

// TestEKSShortageOfOneZone is an update that lacks capacity in one of the zones
// that have old nodes: it grows, and fails nevertheless.
func TestEKSShortageOfOneZone(t *testing.T) {
	c := newCluster(t, eksSpec())
	c.Cloud.Shortage("us-east-1b", "", true)
	out := c.rolled(4 * time.Hour)
	if out.Code != "NodeCreationFailure" {
		t.Errorf("%+v", out)
	}
	if n := len(c.moved("node-added")); n != 6 {
		t.Errorf("%d nodes joined, want 6 in the other zones", n)
	}
}

// TestEKSGoesBack is an update that is cancelled half-way: what still runs the
// old image is uncordoned and stays, what runs the new one is replaced.
func TestEKSGoesBack(t *testing.T) {
	s := eksSpec()
	s.roll = func(c *roll.Config) { c.MaxUnavailable, c.Settle, c.RollbackAt = 1, time.Minute, 3 }
	c := newCluster(t, s)
	out := c.rolled(8 * time.Hour)
	if out.Code != "RolledBack" {
		t.Fatalf("%+v\n%s", out, c.story())
	}
	kept := 0
	for _, n := range c.API.Nodes() {
		if c.old[n.UID] {
			kept++
		}
		if !strings.HasPrefix(n.Info.KubeletVersion, "v1.33.5") || n.Unschedulable {
			t.Errorf("%s runs %s, unschedulable %v", n.Name, n.Info.KubeletVersion, n.Unschedulable)
		}
	}
	if len(c.API.Nodes()) != 6 || kept > 3 {
		t.Errorf("%d nodes, %d of them old", len(c.API.Nodes()), kept)
	}
	if n := len(c.moved("uncordoned")); n < 2 {
		t.Errorf("%d nodes were uncordoned", n)
	}
	if len(c.marks) != 2 || !strings.HasPrefix(c.marks[0], "rollback the update of workers was cancelled") {
		t.Errorf("marks %q", c.marks)
	}
}

// TestEKSStops is an update that nobody lets end.
func TestEKSStops(t *testing.T) {
	s := eksSpec()
	s.roll = func(c *roll.Config) { c.MaxUnavailable, c.Settle, c.StopAfter = 1, time.Minute, 2 }
	c := newCluster(t, s)
	if out := c.rolled(4 * time.Hour); out.Code != "Cancelled" {
		t.Fatalf("%+v", out)
	}
	c.run(c.Now() + time.Hour)
	old := 0
	for _, n := range c.API.Nodes() {
		if c.old[n.UID] {
			old++
		}
	}
	if old != 4 {
		t.Errorf("%d old nodes are left, want 4", old)
	}
}

// TestEKSMinimal never has more nodes than the group's size.
func TestEKSMinimal(t *testing.T) {
	s := eksSpec()
	s.strategy = eksMinimal
	c := newCluster(t, s)
	most := 0
	c.steps = append(c.steps, func() { most = max(most, len(c.API.Nodes())) })
	if out := c.rolled(6 * time.Hour); out.Failed {
		t.Fatalf("%+v\n%s", out, c.story())
	}
	if most != 6 {
		t.Errorf("%d nodes at most, want 6", most)
	}
	cordoned, deleted := c.moved("cordoned"), c.moved("node-deleted")
	if len(cordoned) != 6 || len(deleted) != 6 {
		t.Fatalf("%d cordons, %d deletions", len(cordoned), len(deleted))
	}
	for n := 1; n < 6; n++ {
		if cordoned[n].at < deleted[n-1].at {
			t.Errorf("node %d was cordoned at %v, before the one before it had gone at %v", n, cordoned[n].at, deleted[n-1].at)
		}
	}
}

// TestPlain replaces one node after the other, each by a new one that serves
// before.
func TestPlain(t *testing.T) {
	s := eksSpec()
	s.strategy, s.roll = plain, nil
	c := newCluster(t, s)
	most := 0
	c.steps = append(c.steps, func() { most = max(most, len(c.API.Nodes())) })
	if out := c.rolled(6 * time.Hour); out.Failed {
		t.Fatalf("%+v\n%s", out, c.story())
	}
	if most > 8 {
		t.Errorf("%d nodes at most", most)
	}
	if n := len(c.moved("excluded true")); n != 0 {
		t.Errorf("%d nodes were labelled", n)
	}
	ready, cordoned := c.moved("ready"), c.moved("cordoned")
	if len(ready) != 6 || len(cordoned) != 6 {
		t.Fatalf("%d ready, %d cordons", len(ready), len(cordoned))
	}
	for n := range 6 {
		if cordoned[n].at < ready[n].at {
			t.Errorf("cordon %d at %v, before new node %d was ready at %v", n, cordoned[n].at, n, ready[n].at)
		}
	}
}
