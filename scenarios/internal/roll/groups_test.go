package roll_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
)

// twoGroups is a cluster with a second group of the same kind, and a roll of
// each.
func twoGroups(t *testing.T, at time.Duration) (c *cluster, ended map[string]time.Duration) {
	t.Helper()
	s := eksSpec()
	s.nodes, s.strategy = 3, nil
	c = newCluster(t, s)
	other := &cloud.Group{Name: "others", Zones: c.group.Zones, Max: 30, FreeIPs: 1000, Template: c.from}
	c.Cloud.AddGroup(other)
	for z := range 3 {
		c.old[c.kubelets.Seed(c.Cloud.Seed(other, other.Zones[z]), time.Hour).UID] = true
	}
	ended = map[string]time.Duration{}
	rolls := make([]*roll.Roller, 2)
	for k, g := range []*cloud.Group{c.group, other} {
		cfg := roll.Config{
			Group: g, From: c.from, To: c.to, Size: 3, At: 30 * time.Second, MaxUnavailable: 1,
			Settle: time.Minute, EvictionTimeout: 15 * time.Minute, JoinTimeout: 15 * time.Minute,
		}
		if k == 1 {
			cfg.At = at
		}
		rolls[k] = roll.New(c.Env, cfg, roll.EKSDefault)
		rolls[k].Ended = func(o roll.Outcome) {
			if o.Failed {
				t.Errorf("%s: %+v", g.Name, o)
			}
			ended[g.Name] = c.Now()
			if k == 0 {
				c.out = &o
				rolls[1].Begin()
			}
		}
	}
	return c, ended
}

// TestGroupsAtOnce rolls two groups side by side, neither of which touches the
// other's nodes.
func TestGroupsAtOnce(t *testing.T) {
	c, ended := twoGroups(t, 30*time.Second)
	c.run(4 * time.Hour)
	if len(ended) != 2 || len(c.API.Nodes()) != 6 {
		t.Fatalf("ended %v, %d nodes", ended, len(c.API.Nodes()))
	}
	for _, g := range c.Cloud.Groups() {
		if len(g.Instances()) != 3 || g.Desired != 3 {
			t.Errorf("%s has %d instances and wants %d", g.Name, len(g.Instances()), g.Desired)
		}
	}
}

// TestGroupsOneAfterAnother begins the second roll when the first has ended.
func TestGroupsOneAfterAnother(t *testing.T) {
	c, ended := twoGroups(t, -1)
	if c.run(10 * time.Minute); ended["others"] > 0 {
		t.Fatal("the second roll is over at once")
	}
	old := 0
	for _, i := range c.Cloud.Group("others").Instances() {
		if c.old[c.API.Node(i.Name).UID] && i.Template == c.from {
			old++
		}
	}
	if old != 3 || len(c.Cloud.Group("others").Instances()) != 3 {
		t.Errorf("the second group was touched")
	}
	c.run(6 * time.Hour)
	if len(ended) != 2 || ended["others"] <= ended["workers"] {
		t.Errorf("ended %v", ended)
	}
}
