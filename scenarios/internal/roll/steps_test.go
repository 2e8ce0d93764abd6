package roll_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
)

// TestSettles waits between the end of a drain and the end of the machine: the
// load balancers need that minute.
func TestSettles(t *testing.T) {
	for _, name := range []string{"eks-default", "eks-minimal"} {
		c := clusterOf(t, name, nil, nil)
		asked := map[string]time.Duration{}
		c.Cloud.Watch(func(change cloud.Change, i *cloud.Instance) {
			if change == cloud.ShutdownAsk {
				asked[i.Name] = c.Now()
			}
		})
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

// TestKarpenterBudget counts a node as disrupted until it is gone: a budget of
// one has the next one wait for it.
func TestKarpenterBudget(t *testing.T) {
	c := clusterOf(t, "karpenter-drift", nil, nil)
	c.rolled(6 * time.Hour)
	tainted, deleted := c.moved("tainted karpenter.sh/disrupted:NoSchedule"), c.moved("node-deleted")
	if len(tainted) != 4 || len(deleted) != 4 {
		t.Fatalf("%d disrupted, %d deleted", len(tainted), len(deleted))
	}
	for k := 1; k < 4; k++ {
		if tainted[k].at < deleted[k-1].at {
			t.Errorf("node %d was disrupted at %v, before the one before was gone at %v", k, tainted[k].at, deleted[k-1].at)
		}
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

// TestEKSShrinksAgainstBudgets has a budget forbid every eviction once the old
// nodes are gone: the group shrinks all the same.
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
	if !made || len(c.moved("deleted")) == 0 || len(c.API.Nodes()) != 4 {
		t.Errorf("budget %v, %d pods deleted, %d nodes", made, len(c.moved("deleted")), len(c.API.Nodes()))
	}
}
