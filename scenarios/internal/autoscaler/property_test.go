package autoscaler_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/autoscaler"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

// TestWhateverHappens does at random what happens to clusters, and looks again
// and again whether the groups stay within their bounds. In the end all is well
// again, and so nobody may wait for whom a group could grow.
func TestWhateverHappens(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			chance := rand.New(rand.NewPCG(seed, 1))
			c := newScaling(t, 100, "workers 1..9 3", "spot 0..6 2=spot", "batch 0..4 0=pool", "odd 0..5 0=pool detached")
			c.scale(chance.IntN(3), chance.IntN(2))
			c.watchDoomed()
			c.deploy("agent", 0, 100, func(w *controllers.Workload) { w.Kind = controllers.DaemonSet })
			short := 0
			for step := range 40 {
				c.happens(chance, step, &short)
				c.run(time.Duration(chance.IntN(240)) * time.Second)
				c.bounded()
			}
			for ; short > 0; short-- {
				c.Cloud.Shortage("us-east-1a", "", false)
				c.Cloud.Shortage("", "workers", false)
			}
			for range 120 {
				c.run(2 * time.Minute)
				c.bounded()
			}
			c.nobodyWaitsInVain()
		})
	}
}

// happens is one thing that happens.
func (c *scaling) happens(chance *rand.Rand, step int, short *int) {
	name := fmt.Sprintf("app-%d", step)
	g := c.groups[chance.IntN(len(c.groups))]
	var i *cloud.Instance
	var n *kube.Node
	if all := g.Instances(); len(all) > 0 {
		i = all[chance.IntN(len(all))]
		n = c.API.Node(i.Name)
	}
	switch chance.IntN(9) {
	case 0, 1, 2:
		c.deployed = append(c.deployed, name)
		c.deploy(name, 1+chance.IntN(6), int64(100+chance.IntN(1600)), func(w *controllers.Workload) {
			switch chance.IntN(7) {
			case 6:
				demanding(func(own kube.PodTerm) kube.Demands {
					own.TopologyKey = "kubernetes.io/hostname"
					return kube.Demands{AntiAffinity: []kube.PodTerm{own}}
				})(w)
			case 0:
				w.Template.NodeSelector = kube.PairsOf(kube.Pair{Key: "pool", Value: []string{"batch", "odd"}[chance.IntN(2)]})
			case 1:
				w.Template.Spread = []kube.Spread{{MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "DoNotSchedule", Selector: w.Template.Labels}}
			}
		})
	case 3, 4:
		if len(c.deployed) > 0 {
			if err := c.Workloads.Scale("shop", c.deployed[chance.IntN(len(c.deployed))], chance.IntN(5)); err != nil {
				c.Fatal(err)
			}
		}
	case 5:
		*short++
		c.Cloud.Shortage("us-east-1a", "", true)
		c.Cloud.Shortage("", "workers", true)
	case 6:
		if *short > 0 {
			*short--
			c.Cloud.Shortage("us-east-1a", "", false)
			c.Cloud.Shortage("", "workers", false)
		}
	case 7:
		if i != nil {
			c.Cloud.Kill(i, false)
		}
	case 8:
		if n != nil {
			c.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = true })
			c.After(20*time.Minute, func() {
				if !n.Gone() {
					c.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = false })
				}
			})
		}
	}
}

// watchDoomed checks that the autoscaler takes nodes alone that run no workload
// and that nobody else is emptying.
func (c *scaling) watchDoomed() {
	c.API.WatchNodes(func(change kube.Change, old, n *kube.Node) {
		const taint = "ToBeDeletedByClusterAutoscaler"
		if change != kube.Modified || old.HasTaint(taint, "") || !n.HasTaint(taint, "") {
			return
		}
		if c.busy(n) || n.Unschedulable || c.API.Now().Sub(n.Created) < 5*time.Minute {
			c.Errorf("at %v %s is to go: it is cordoned, young, or in use", c.Now(), n.Name)
		}
	})
	c.Cloud.Watch(func(change cloud.Change, i *cloud.Instance) {
		n := c.API.Node(i.Name)
		if change == cloud.ShutdownAsk && (n == nil || c.busy(n) || n.Unschedulable || !n.HasTaint("ToBeDeletedByClusterAutoscaler", "NoSchedule")) {
			c.Errorf("at %v %s is terminated, which is cordoned or in use", c.Now(), i.Name)
		}
	})
}

func (c *scaling) busy(n *kube.Node) bool {
	for _, p := range c.API.PodsOn(n.Name) {
		if !p.Terminal() && p.Owner.Kind != "DaemonSet" {
			return true
		}
	}
	return false
}

// bounded checks the groups' bounds.
func (c *scaling) bounded() {
	c.Helper()
	for _, g := range c.groups {
		if g.Detached {
			if n := len(g.Instances()); n > g.Max {
				c.Fatalf("at %v %s has %d nodes, want at most %d", c.Now(), g.Name, n, g.Max)
			}
			continue
		}
		if g.Desired < g.Min || g.Desired > g.Max {
			c.Fatalf("at %v %s wants %d nodes, want %d to %d", c.Now(), g.Name, g.Desired, g.Min, g.Max)
		}
	}
}

// nobodyWaitsInVain checks of each pod that waits that the groups it may run in
// are as large as may be.
func (c *scaling) nobodyWaitsInVain() {
	c.Helper()
	for _, p := range c.API.Pods() {
		if p.NodeName != "" || p.Terminal() || p.Pinned != "" {
			continue
		}
		for _, g := range c.groups {
			want := p.Template.NodeSelector.Get("pool")
			if want != "" && want != g.Name {
				continue
			}
			if n := max(len(g.Instances()), 0); n < g.Max {
				cpu, _ := p.Requests()
				c.Fatalf("%s waits for %dm of CPU, and %s has %d of %d nodes: %s", p.Name, cpu, g.Name, n, g.Max, c.sizes())
			}
		}
	}
}

func TestTheSameAgain(t *testing.T) {
	tape := func() (sum uint64) {
		c := newScaling(t, 100, "workers 1..9 3", "spot 0..6 2=spot", "odd 0..5 0=detached")
		c.keep = true
		c.scale(1, 1)
		chance := rand.New(rand.NewPCG(3, 3))
		short := 0
		for step := range 30 {
			c.happens(chance, step, &short)
			c.run(time.Duration(chance.IntN(240)) * time.Second)
		}
		h := fnv.New64a()
		for _, line := range c.tape {
			fmt.Fprintln(h, line)
		}
		if len(c.story) == 0 {
			t.Error("the autoscaler did nothing")
		}
		return h.Sum64()
	}
	first := tape()
	for range 3 {
		if again := tape(); again != first {
			t.Fatalf("the tape's hash is %x, and was %x", again, first)
		}
	}
}

// BenchmarkAutoscalerScan is one scan with 10,000 pods that wait and 5000 nodes
// that are on their way to them.
func BenchmarkAutoscalerScan(b *testing.B) {
	c := placing.New(b, "1.34", false)
	timings := *c.Timings
	c.Timings = &timings
	c.Cloud = cloud.New(cloud.Config{
		Loop: c.Loop, Seed: 7, Timings: func(*cloud.Group) *model.Timings { return &timings },
		Identify: func(i *cloud.Instance) { i.ID = fmt.Sprintf("i-%d", i.Number); i.Name = "node-" + i.ID },
	})
	g := &cloud.Group{Name: "workers", Zones: scalingZones, Max: 6000, Template: cloud.Template{InstanceType: "m5.large"}}
	c.Cloud.AddGroup(g)
	shapes := newScaling(b, 0).config
	autoscaler.New(c.Env, autoscaler.Config{Groups: []*cloud.Group{g}, Kubelets: shapes})
	for k := range 20 {
		t := &kube.Template{Containers: []kube.ContainerSpec{{Name: "web", Image: "web", CPU: 900 + int64(k), Memory: 64 << 20}}}
		for j := range 500 {
			p := &kube.Pod{Template: t, Phase: "Pending"}
			p.Namespace, p.Name = "shop", fmt.Sprintf("web-%d-%d", k, j)
			p.Conditions = p.Conditions.Set(kube.Condition{Type: "PodScheduled", Status: "False", Reason: "Unschedulable"})
			if err := c.API.CreatePod(p); err != nil {
				b.Fatal(err)
			}
		}
	}
	c.RunTo(b, time.Minute)
	b.ResetTimer()
	for range b.N {
		c.RunTo(b, c.Now()+10*time.Second)
		if c.Now() > 13*time.Minute {
			b.StopTimer()
			b.Logf("the group wants %d nodes", g.Desired)
			return
		}
	}
}
