package roll_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
)

// shutdowns notes when each machine is asked to shut down, by its node.
func (c *cluster) shutdowns() map[string]time.Duration {
	asked := map[string]time.Duration{}
	c.Cloud.Watch(func(change cloud.Change, i *cloud.Instance) {
		if change == cloud.ShutdownAsk {
			asked[i.Name] = c.Now()
		}
	})
	return asked
}

// disrupted are the taints of the nodes that Karpenter replaces.
func (c *cluster) disrupted() []move { return c.moved("tainted karpenter.sh/disrupted:NoSchedule") }

// TestSettles waits between the end of a drain and the end of the machine: the
// load balancers need that minute.
func TestSettles(t *testing.T) {
	for _, name := range []string{"eks-default", "eks-minimal"} {
		c := clusterOf(t, name, nil, nil)
		asked := c.shutdowns()
		c.rolled(6 * time.Hour)
		for _, m := range c.moved("node-deleted") {
			evicted := c.first("evicted", m.name)
			if wait := asked[m.name] - evicted; evicted > 0 && wait < time.Minute+3*time.Second {
				t.Errorf("%s: %s was ended %v after its drain began", name, m.name, wait)
			}
		}
	}
}

// TestKopsValidatesTwice holds a quarter of a minute between a replacement that
// is Ready and the next drain.
func TestKopsValidatesTwice(t *testing.T) {
	c := clusterOf(t, "kops", nil, nil)
	c.rolled(6 * time.Hour)
	ready := c.moved("ready")
	for _, m := range c.moved("cordoned") {
		for _, r := range ready {
			if m.at > r.at && m.at-r.at < 15*time.Second {
				t.Errorf("%s was cordoned at %v, %v after a new node was ready", m.name, m.at, m.at-r.at)
			}
		}
	}
}

// TestKarpenterBudget counts a node as disrupted until its machine is being
// terminated: a budget of one has the next one wait for that, and not for its end.
func TestKarpenterBudget(t *testing.T) {
	c := clusterOf(t, "karpenter-drift", nil, nil)
	asked := c.shutdowns()
	c.rolled(6 * time.Hour)
	tainted := c.disrupted()
	if len(tainted) != 4 || len(asked) != 4 {
		t.Fatalf("%d disrupted, %d asked to shut down", len(tainted), len(asked))
	}
	early := 0
	for k := 1; k < 4; k++ {
		last := tainted[k-1].name
		if tainted[k].at < asked[last] {
			t.Errorf("node %d was disrupted at %v, before the machine of the one before was terminated at %v", k, tainted[k].at, asked[last])
		}
		if tainted[k].at < c.first("node-deleted", last) {
			early++
		}
	}
	if early == 0 {
		t.Errorf("each node was disrupted when the one before was gone\n%s", c.brief())
	}
}

// TestKarpenterDrainsInStages evicts the important pods last.
func TestKarpenterDrainsInStages(t *testing.T) {
	c := clusterOf(t, "karpenter-drift", func(s *spec) { s.nodes, s.zones = 1, 1 }, nil)
	vital := controllers.Workload{Kind: controllers.Deployment, Namespace: "kube-system", Name: "dns", Replicas: 2, Template: controllers.PodTemplate{
		Labels: kube.PairsOf(kube.Pair{Key: "app", Value: "dns"}), GraceSeconds: 30, PriorityClass: "system-cluster-critical", Priority: 2000000000,
		Containers: []kube.ContainerSpec{{Name: "dns", Image: "registry.example/dns:1", CPU: 50}},
		Traits:     &component.PodTraits{Stop: model.Fixed(time.Second)},
	}}
	if err := c.workloads.Add(vital); err != nil {
		t.Fatal(err)
	}
	evicted := map[string]time.Duration{} // the first of each app
	c.API.WatchPods(func(change kube.Change, was, p *kube.Pod) {
		if n := c.API.Node(p.NodeName); n == nil || !c.old[n.UID] {
			return
		}
		app := p.Labels.Get("app")
		if change == kube.Modified && p.Terminating() && !was.Terminating() && evicted[app] == 0 {
			evicted[app] = c.Now()
		}
	})
	c.rolled(2 * time.Hour)
	// The others take three seconds to stop.
	if evicted["web"] == 0 || evicted["dns"]-evicted["web"] < 3*time.Second {
		t.Errorf("evicted %v", evicted)
	}
}

// TestWaitsForVolumes holds a drained machine while a volume is attached.
func TestWaitsForVolumes(t *testing.T) {
	for _, name := range []string{"capi", "karpenter-drift"} {
		c := clusterOf(t, name, nil, nil)
		i := c.group.Instances()[0]
		n := c.API.Node(i.Name)
		c.At(time.Second, func() {
			c.API.UpdateNode(n, func(n *kube.Node) { n.Attached = []kube.Attached{{Name: "kubernetes.io/csi/ebs.csi.aws.com^vol-1"}} })
		})
		c.At(time.Hour, func() { c.API.UpdateNode(n, func(n *kube.Node) { n.Attached = nil }) })
		c.run(59 * time.Minute)
		if i.State != cloud.Running || c.first("evicted", i.Name) < 0 {
			t.Errorf("%s: the instance is %v, its pods were evicted at %v", name, i.State, c.first("evicted", i.Name))
		}
		if out := c.rolled(6 * time.Hour); out.Failed {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// TestForcedDrainEnds has a pod that nothing removes: a forced drain gives it the
// same time once more, that of GKE its grace period, and then the machine goes.
func TestForcedDrainEnds(t *testing.T) {
	for name, took := range map[string]time.Duration{"eks-minimal": 30 * time.Minute, "gke-surge": 61 * time.Minute} {
		c := clusterOf(t, name, nil, func(c *roll.Config) { c.Force = true })
		for _, p := range c.API.PodsOn(c.group.Instances()[0].Name) {
			c.At(0, func() { c.API.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer("example.com/hold", true) }) })
		}
		if out := c.rolled(6 * time.Hour); out.Failed {
			t.Fatalf("%+v\n%s", out, c.story())
		}
		late := 0
		for _, m := range c.moved("node-deleted") {
			if at := m.at - c.first("cordoned", m.name); at > took && at < took+6*time.Minute {
				late++
			}
		}
		if late != 1 {
			t.Errorf("%s: %d nodes took %v or little more, want the one whose pods are held\n%s", name, late, took, c.brief())
		}
	}
}

// TestFailedRollEvictsNoMore gives way after the end of a roll: nobody evicts
// any more.
func TestFailedRollEvictsNoMore(t *testing.T) {
	c := clusterOf(t, "plain", evictsNothing, func(c *roll.Config) { c.MaxUnavailable = 2 })
	c.run(15*time.Minute + 45*time.Second)
	for c.out == nil && c.Now() < time.Hour {
		c.run(c.Now() + time.Second)
	}
	if c.out == nil {
		t.Fatal("the roll goes on")
	}
	c.After(0, func() {
		c.API.UpdateBudget(c.API.Budgets()[0], func(b *kube.Budget) { b.MinAvailable = "0"; b.Generation++ })
	})
	c.run(c.Now() + time.Hour)
	if n := len(c.moved("evicted")); n != 0 {
		t.Errorf("%d pods were evicted", n)
	}
}

// TestKarpenterForgetsNobody leaves no NodeClaim without a node, and each node
// with its owner.
func TestKarpenterForgetsNobody(t *testing.T) {
	c := clusterOf(t, "karpenter-drift", nil, nil)
	c.rolled(6 * time.Hour)
	for name := range c.claims {
		o := c.API.Custom("nodeclaims", "", name)
		for _, kind := range []string{"Launched", "Registered", "Initialized", "Ready"} {
			if !o.Conditions.Is(kind, "True") {
				t.Errorf("%s of %s isn't True: %+v", kind, o.Name, o.Conditions)
			}
		}
	}
	for _, n := range c.API.Nodes() {
		claim := c.API.Custom("nodeclaims", "", n.Owner.Name)
		if claim == nil || claim.UID != n.Owner.UID || !n.HasFinalizer("karpenter.sh/termination") || n.Labels.Get("karpenter.sh/initialized") != "true" ||
			n.HasTaint("karpenter.sh/unregistered", "") {
			t.Errorf("%s is owned by %+v, has %v, %v", n.Name, n.Owner, n.Finalizers, n.Taints)
		}
	}
}

// neverStops gives pods a grace period that they use to its end.
func neverStops(grace time.Duration) func(*controllers.PodTemplate) {
	return func(p *controllers.PodTemplate) {
		p.GraceSeconds, p.Traits = int64(grace/time.Second), &component.PodTraits{NeverStops: true}
	}
}

// surplus counts the new nodes that went when the quarter of an hour of their drain was over; none may take much longer.
func (c *cluster) surplus() (late int) {
	c.Helper()
	for _, m := range c.moved("node-deleted") {
		if !c.isNew(m) {
			continue
		}
		took := m.at - c.first("cordoned", m.name)
		if took >= 20*time.Minute {
			c.Errorf("%s went %v after its cordon, want that within 20m", m.name, took)
		}
		if took > 15*time.Minute {
			late++
		}
	}
	return late
}

// TestEKSShrinksAgainstBudgets has a budget forbid every eviction once the old
// nodes are gone: the group shrinks all the same, and no pod is deleted for that.
func TestEKSShrinksAgainstBudgets(t *testing.T) {
	c := clusterOf(t, "eks-default", nil, nil)
	made := false
	c.steps = append(c.steps, func() {
		if made || len(c.moved("node-deleted")) < 4 {
			return
		}
		made = true
		c.After(0, func() {
			b := &kube.Budget{MinAvailable: "12", Selector: kube.PairsOf(kube.Pair{Key: "app", Value: "web"})}
			b.Namespace, b.Name = "shop", "late"
			if err := c.API.CreateBudget(b); err != nil {
				t.Error(err)
			}
		})
	})
	if out := c.rolled(12 * time.Hour); out.Failed {
		t.Errorf("%+v\n%s", out, c.brief())
	}
	if late, deleted := c.surplus(), len(c.moved("deleted")); !made || late == 0 || deleted > 0 || len(c.API.Nodes()) != 4 {
		t.Errorf("budget %v, %d surplus nodes went after their whole drain, %d pods deleted, %d nodes: want some, none and 4\n%s",
			made, late, deleted, len(c.API.Nodes()), c.brief())
	}
}

// TestEKSForcesNoSurplus has pods that never stop within their hour: a forced update drains old nodes twice as long, and
// surplus ones not.
func TestEKSForcesNoSurplus(t *testing.T) {
	c := clusterOf(t, "eks-default", nil, func(c *roll.Config) { c.Force = true })
	c.deploy(controllers.Deployment, "slow", 8, neverStops(time.Hour))
	if out := c.rolled(12 * time.Hour); out.Failed {
		t.Errorf("%+v\n%s", out, c.brief())
	}
	forced := 0
	for _, m := range c.moved("node-deleted") {
		if !c.isNew(m) && m.at-c.first("evicted", m.name) > 30*time.Minute {
			forced++
		}
	}
	if late := c.surplus(); late == 0 || forced == 0 || len(c.API.Nodes()) != 4 {
		t.Errorf("%d surplus nodes went after their whole drain, %d old ones after twice that, %d nodes: want some, some and 4\n%s",
			late, forced, len(c.API.Nodes()), c.brief())
	}
}

// TestAKSSoaks rests between the drain of a node and its reimage.
func TestAKSSoaks(t *testing.T) {
	c := clusterOf(t, "aks-reimage", nil, nil)
	c.rolled(6 * time.Hour)
	old := 0
	for _, m := range c.moved("node-deleted") {
		if c.isNew(m) {
			continue // the surge node
		}
		old++
		if evicted := c.first("evicted", m.name); evicted < 0 || m.at-evicted < 5*time.Minute {
			t.Errorf("%s was deleted at %v, its pods were evicted at %v: want 5m between them", m.name, m.at, evicted)
		}
	}
	if old != 4 {
		t.Errorf("%d old nodes were deleted, want 4\n%s", old, c.brief())
	}
}

// watchCordons keeps the most nodes that are cordoned at once.
func (c *cluster) watchCordons() *int {
	most := 0
	c.steps = append(c.steps, func() {
		cordoned := 0
		for _, n := range c.API.Nodes() {
			if n.Unschedulable {
				cordoned++
			}
		}
		most = max(most, cordoned)
	})
	return &most
}

// TestAKSCounts upgrades as many nodes at a time as there are surge nodes, whatever maxUnavailable is, and has no more
// surge nodes than nodes to upgrade.
func TestAKSCounts(t *testing.T) {
	c := clusterOf(t, "aks-reimage", func(s *spec) { s.nodes = 6 }, func(c *roll.Config) { c.MaxSurge, c.MaxUnavailable = 2, 3 })
	most := c.watchCordons()
	if out := c.rolled(12 * time.Hour); out.Failed || *most != 2 {
		t.Errorf("%+v, %d nodes were cordoned at once, want 2\n%s", out, *most, c.brief())
	}
	c = clusterOf(t, "aks-reimage", nil, func(c *roll.Config) { c.MaxSurge = 9 })
	c.watchSize()
	if out := c.rolled(12 * time.Hour); out.Failed || c.most != 8 || len(c.API.Nodes()) != 4 {
		t.Errorf("%+v, at most %d nodes, %d in the end: want 8 and 4\n%s", out, c.most, len(c.API.Nodes()), c.brief())
	}
}

// TestKopsBeginsWithOne updates one node, and when its replacement validates, three at a time.
func TestKopsBeginsWithOne(t *testing.T) {
	c := clusterOf(t, "kops", nil, func(c *roll.Config) { c.MaxSurge, c.MaxUnavailable = 0, 3 })
	most := c.watchCordons()
	out := c.rolled(6 * time.Hour)
	ready, cordoned := c.moved("ready"), c.moved("cordoned")
	if out.Failed || len(ready) == 0 || len(cordoned) != 4 || cordoned[1].at < ready[0].at || *most != 3 {
		t.Errorf("%+v, cordoned %v, new nodes were ready %v, %d were cordoned at once: want 4, the second after the first is ready, and 3",
			out, cordoned, ready, *most)
	}
}

// TestBlueGreenBatches drains the second batch of two nodes when the first one is drained, and not when one of its nodes is.
func TestBlueGreenBatches(t *testing.T) {
	c := clusterOf(t, "gke-blue-green", nil, nil)
	first := slices.MinFunc(c.group.Instances(), func(a, b *cloud.Instance) int { return strings.Compare(a.ID, b.ID) })
	c.deploy(controllers.Deployment, "slow", 1, func(p *controllers.PodTemplate) {
		neverStops(30 * time.Minute)(p)
		p.NodeSelector = kube.PairsOf(kube.Pair{Key: component.LabelHostname, Value: first.Name})
	})
	if out := c.rolled(24 * time.Hour); out.Failed {
		t.Errorf("%+v\n%s", out, c.brief())
	}
	var began []time.Duration // the drain of each node
	for _, m := range c.moved("evicted") {
		if m.at == c.first("evicted", m.name) && !slices.Contains(began, m.at) {
			began = append(began, m.at)
		}
	}
	if len(began) != 2 || began[0] != c.first("evicted", first.Name) || began[1]-began[0] < 30*time.Minute {
		t.Errorf("drains began at %v, want two batches, the second when the pod of %s has gone\n%s", began, first.Name, c.brief())
	}
}
