package roll_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/api"
)

// TestSurplus launches four more nodes while an old one is still there,
// as for pods that have no place for a while. When the last old one is gone those that
// are empty go as well, those that are little used behind them, and the roll is
// complete.
func TestSurplus(t *testing.T) {
	c := clusterOf(t, "karpenter-drift", nil, nil)
	most, launched := 0, false
	c.API.WatchNodes(func(change api.Change, _, n *api.Node) {
		most = max(most, len(c.API.Nodes()))
		if launched || change != api.Modified || !c.old[n.UID] || !n.Terminating() {
			return
		}
		others := 0
		for _, other := range c.API.Nodes() {
			if other != n && c.old[other.UID] {
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
		c.After(90*time.Second, c.karpenter.SeedNodeClaims)
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
