package roll_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
)

// clusterOf is the small cluster of a strategy, changed by a test.
func clusterOf(t *testing.T, name string, change func(*spec), tune func(*roll.Config)) *cluster {
	t.Helper()
	for _, r := range rolls {
		if r.name != name {
			continue
		}
		s := r.spec
		s.nodes, s.zones, s.pods, s.seed = 4, 2, 12, 5
		own := s.roll
		s.roll = func(c *roll.Config) {
			own(c)
			if tune != nil {
				tune(c)
			}
		}
		if change != nil {
			change(&s)
		}
		return newCluster(t, s)
	}
	t.Fatalf("no strategy %s", name)
	return nil
}

// evictsNothing is a budget that allows no eviction of the twelve pods.
func evictsNothing(s *spec) { s.budget = "12" }

// TestBlockedByBudget rolls with each strategy against a budget that allows
// nothing: a strategy with a time limit fails after it, GKE continues without the budget,
// and Karpenter and Cluster API wait.
func TestBlockedByBudget(t *testing.T) {
	for name, says := range map[string]string{
		"plain":       "did not end within 15m0s",
		"eks-default": "Reached max retries while trying to evict pods from nodes in node group workers",
		"eks-minimal": "Reached max retries while trying to evict pods from nodes in node group workers",
		"aks-reimage": "failed when evicting pods: Eviction failed with Too Many Requests error",
		"kops":        "global timeout reached: 15m0s",
	} {
		c := clusterOf(t, name, evictsNothing, nil)
		out := c.rolled(6 * time.Hour)
		if out.Code != "PodEvictionFailure" || !strings.Contains(out.Reason, says) {
			t.Errorf("%s: %+v", name, out)
		}
		if n := len(c.moved("evicted")) + len(c.moved("deleted")); n > 0 {
			t.Errorf("%s: %d pods went", name, n)
		}
		if len(c.marks) != 1 || !strings.HasPrefix(c.marks[0], "failed PodEvictionFailure: ") {
			t.Errorf("%s: marks %q", name, c.marks)
		}
		moves := len(c.moves)
		launched := c.Cloud.Launches()
		c.run(c.Now() + 2*time.Hour)
		if len(c.moves) != moves || c.Cloud.Launches() != launched {
			t.Errorf("%s: it goes on after its end:\n%s", name, c.story())
		}
	}
	for _, name := range []string{"gke-surge", "gke-blue-green"} {
		c := clusterOf(t, name, evictsNothing, nil)
		if out := c.rolled(24 * time.Hour); out.Failed {
			t.Errorf("%s: %+v", name, out)
		}
		deleted := c.moved("deleted")
		if len(deleted) < 12 || deleted[0].at-c.moved("cordoned")[0].at < time.Hour {
			t.Errorf("%s: %d pods were deleted, the first %v after the cordon", name, len(deleted), deleted[0].at-c.moved("cordoned")[0].at)
		}
	}
	for _, name := range []string{"karpenter-drift", "capi"} {
		c := clusterOf(t, name, evictsNothing, nil)
		c.run(6 * time.Hour)
		if c.out != nil || len(c.moved("node-deleted")) != 0 || len(c.marks) != 0 {
			t.Errorf("%s: %+v, %d nodes deleted, marks %q", name, c.out, len(c.moved("node-deleted")), c.marks)
		}
		if name == "karpenter-drift" {
			blocked := c.reported("DisruptionBlocked")
			if len(blocked) == 0 || blocked[0].message != "Pdb prevents pod evictions (PodDisruptionBudget=shop/web)" {
				t.Errorf("%s: %+v", name, blocked)
			}
			if n := len(c.moved("tainted karpenter.sh/disrupted:NoSchedule")); n != 0 {
				t.Errorf("%d nodes were disrupted", n)
			}
		}
	}
}

// TestQuarantine is an AKS upgrade that passes over what it can't drain.
func TestQuarantine(t *testing.T) {
	c := clusterOf(t, "aks-reimage", evictsNothing, func(c *roll.Config) { c.Quarantine = true })
	if out := c.rolled(12 * time.Hour); out.Failed {
		t.Fatalf("%+v\n%s", out, c.story())
	}
	quarantined := 0
	for _, n := range c.API.Nodes() {
		if n.Labels.Get("kubernetes.azure.com/upgrade-status") == "Quarantined" {
			quarantined++
			if !n.Unschedulable || !c.old[n.UID] {
				t.Errorf("%s: unschedulable %v, old %v", n.Name, n.Unschedulable, c.old[n.UID])
			}
		}
	}
	if quarantined != 4 || len(c.API.Nodes()) != 8 {
		t.Errorf("%d of %d nodes are quarantined, want 4 of 8\n%s", quarantined, len(c.API.Nodes()), c.brief())
	}
}

// TestNeverJoins rolls with machines whose kubelets never start.
func TestNeverJoins(t *testing.T) {
	for _, name := range []string{"plain", "eks-default", "eks-minimal", "gke-surge", "gke-blue-green", "aks-reimage", "kops"} {
		c := clusterOf(t, name, nil, nil)
		c.Cloud.Watch(brokenUserData(c))
		out := c.rolled(6 * time.Hour)
		if out.Code != "NodeCreationFailure" || out.Reason == "" {
			t.Errorf("%s: %+v", name, out)
		}
		if took := c.Now() - 3*time.Minute; took < 15*time.Minute || took > 40*time.Minute {
			t.Errorf("%s: failed at %v", name, took)
		}
		if n := len(c.moved("node-deleted")); n > 1 {
			t.Errorf("%s: %d nodes were given up for nothing", name, n)
		}
	}
	c := clusterOf(t, "karpenter-drift", nil, nil)
	c.Cloud.Watch(brokenUserData(c))
	c.run(40 * time.Minute)
	if n := len(c.moved("untainted karpenter.sh/disrupted:NoSchedule")); n < 2 || len(c.moved("node-deleted")) > 0 {
		t.Errorf("karpenter gave %d nodes back, %d were deleted", n, len(c.moved("node-deleted")))
	}
	if n := len(c.claims); n > 5 {
		t.Errorf("%d NodeClaims are left", n)
	}
	c = clusterOf(t, "capi", nil, nil)
	c.Cloud.Watch(brokenUserData(c))
	c.run(3 * time.Hour)
	if c.out != nil || len(c.moved("cordoned")) > 0 || c.Cloud.Launches() != 5 {
		t.Errorf("capi: %+v, %d launches", c.out, c.Cloud.Launches())
	}
}

// TestKopsTriesOneFirst has machines whose kubelets never start: no more than one node is given up for them, or one
// machine launched, whatever the bounds are.
func TestKopsTriesOneFirst(t *testing.T) {
	for _, test := range []struct{ surge, unavailable, cordoned, launches int }{{0, 3, 1, 5}, {3, 0, 0, 5}, {2, 2, 0, 5}} {
		c := clusterOf(t, "kops", nil, func(c *roll.Config) { c.MaxSurge, c.MaxUnavailable = test.surge, test.unavailable })
		c.Cloud.Watch(brokenUserData(c))
		out := c.rolled(6 * time.Hour)
		if n := len(c.moved("cordoned")); out.Code != "NodeCreationFailure" || n != test.cordoned || c.Cloud.Launches() != test.launches {
			t.Errorf("%+v: %+v, %d nodes were cordoned, %d launches\n%s", test, out, n, c.Cloud.Launches(), c.brief())
		}
	}
}

// TestKopsWaitsForCriticalPods has a pod that fits on no node: a critical one keeps the cluster from validating, and
// another one doesn't.
func TestKopsWaitsForCriticalPods(t *testing.T) {
	for _, critical := range []bool{false, true} {
		c := clusterOf(t, "kops", nil, nil)
		c.deploy(controllers.Deployment, "vast", 1, func(p *controllers.PodTemplate) {
			p.Containers[0].CPU = 64000
			if critical {
				p.Priority, p.PriorityClass = 2000000000, "system-cluster-critical"
			}
		})
		out := c.rolled(6 * time.Hour)
		cordoned := len(c.moved("cordoned"))
		if !critical && (out.Failed || cordoned != 4) {
			t.Errorf("%+v, %d nodes were cordoned, want a roll that ends", out, cordoned)
		}
		if critical && (out.Code != "NodeCreationFailure" || !strings.Contains(out.Reason, "did not validate") || cordoned != 0) {
			t.Errorf("%+v, %d nodes were cordoned, want a cluster that did not validate", out, cordoned)
		}
	}
}

// TestAKSRefusesBudgets is an upgrade that never begins, since a budget allows nothing, though it selects no pod.
func TestAKSRefusesBudgets(t *testing.T) {
	for _, most := range []string{"0", "0%"} {
		c := clusterOf(t, "aks-reimage", nil, nil)
		b := &kube.Budget{MaxUnavailable: most, Selector: kube.PairsOf(kube.Pair{Key: "app", Value: "nobody"})}
		b.Namespace, b.Name = "shop", "nobody"
		if err := c.API.CreateBudget(b); err != nil {
			t.Fatal(err)
		}
		out := c.rolled(time.Hour)
		if out.Code != "UnsatisfiablePDB" || !strings.Contains(out.Reason, "PDB shop/nobody has ") {
			t.Errorf("%s: %+v", most, out)
		}
		if n := len(c.moved("cordoned")); n > 0 || c.Cloud.Launches() != 4 || c.group.Template != c.from {
			t.Errorf("%s: %d nodes were cordoned, %d launches, the group's template is %+v: want nothing done", most, n, c.Cloud.Launches(), c.group.Template)
		}
	}
}

// TestShortage takes all capacity away for a while: Karpenter and Cluster API
// try again and complete.
func TestShortage(t *testing.T) {
	for _, name := range []string{"karpenter-drift", "capi", "plain", "kops"} {
		c := clusterOf(t, name, nil, nil)
		c.Cloud.Shortage("", "", true)
		c.After(10*time.Minute, func() { c.Cloud.Shortage("", "", false) })
		if out := c.rolled(6 * time.Hour); out.Failed {
			t.Errorf("%s: %+v\n%s", name, out, c.brief())
		}
		if n := len(c.reported("InsufficientCapacityError")); (n > 0) != (name == "karpenter-drift") {
			t.Errorf("%s: %d reports of no capacity", name, n)
		}
	}
}

// TestGoesBack cancels each roll when half of the nodes are replaced: in the end
// all run the old version again, and nothing is left of the roll on any.
func TestGoesBack(t *testing.T) {
	for _, r := range rolls {
		c := clusterOf(t, r.name, nil, func(c *roll.Config) { c.RollbackAt, c.Soak = 2, min(c.Soak, 10*time.Minute) })
		out := c.rolled(24 * time.Hour)
		if out.Code != "RolledBack" {
			t.Errorf("%s: %+v\n%s", r.name, out, c.brief())
			continue
		}
		for _, n := range c.API.Nodes() {
			if !strings.HasPrefix(n.Info.KubeletVersion, "v1.33.5") || n.Unschedulable || len(n.Taints) > 0 || n.Terminating() {
				t.Errorf("%s: %s runs %s, unschedulable %v, taints %v", r.name, n.Name, n.Info.KubeletVersion, n.Unschedulable, n.Taints)
			}
		}
		if len(c.API.Nodes()) != 4 {
			t.Errorf("%s: %d nodes in the end\n%s", r.name, len(c.API.Nodes()), c.brief())
		}
	}
}

// TestFailureGoesBack is a roll that a budget blocks and that goes back by
// itself.
func TestFailureGoesBack(t *testing.T) {
	for _, name := range []string{"plain", "eks-default", "eks-minimal", "aks-reimage", "kops"} {
		c := clusterOf(t, name, evictsNothing, func(c *roll.Config) { c.Rollback = true })
		out := c.rolled(24 * time.Hour)
		if !out.Failed || len(c.marks) != 2 || !strings.HasPrefix(c.marks[0], "rollback the update of workers has failed (PodEvictionFailure)") {
			t.Errorf("%s: %+v, marks %q", name, out, c.marks)
		}
		for _, n := range c.API.Nodes() {
			if c.old[n.UID] && n.Unschedulable && out.Code == "RolledBack" {
				t.Errorf("%s: %s is still cordoned", name, n.Name)
			}
		}
	}
}

// TestSurvivesLosses kills machines all along: whatever the roll was doing with
// them, it ends.
func TestSurvivesLosses(t *testing.T) {
	for seed := range uint64(3) {
		for _, r := range rolls {
			if r.name == "capi" {
				continue // a lost Machine is another controller's affair
			}
			c := clusterOf(t, r.name, func(s *spec) { s.seed, s.jitter = seed, 100 }, func(c *roll.Config) { c.Soak = time.Minute })
			chance := c.Stream("killer")
			for k := range 6 {
				c.After(time.Minute+time.Duration(k)*4*time.Minute, func() {
					var live []*cloud.Instance
					for _, i := range c.group.Instances() {
						if i.State == cloud.Running {
							live = append(live, i)
						}
					}
					if len(live) > 1 {
						c.Cloud.Kill(live[chance.N(uint64(len(live)))], false)
					}
				})
			}
			for c.out == nil && c.Now() < 48*time.Hour {
				c.run(c.Now() + time.Minute)
			}
			if c.out == nil {
				t.Errorf("%s, seed %d: the roll never ends\n%s", r.name, seed, c.brief())
			}
		}
	}
}
