package actors_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/scenarios/internal/actors"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

func (c *placing) deploy(t testing.TB, kind actors.WorkloadKind, name string, replicas int, template actors.PodTemplate) {
	t.Helper()
	if err := c.Add(actors.Workload{Kind: kind, Namespace: "shop", Name: name, Replicas: replicas, Template: template, CreateAt: c.Now()}); err != nil {
		t.Fatal(err)
	}
}

func TestPodsSpreadOverHostsAndZones(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	for _, n := range []string{"a1", "a2", "b1", "b2"} {
		c.node(n, n[:1])
	}
	c.deploy(t, actors.Deployment, "web", 8, app("web", 500))
	c.run(t, time.Minute)
	if diff := cmp.Diff(map[string]int{"a1": 2, "a2": 2, "b1": 2, "b2": 2}, c.placed("web")); diff != "" {
		t.Error(diff)
	}
	p := c.pods("web")[0]
	if zone := p.Labels.Get("topology.kubernetes.io/zone"); zone != p.NodeName[:1] {
		t.Errorf("the pod on %s is labelled with zone %q", p.NodeName, zone)
	}
	if !p.Conditions.Is("PodScheduled", "True") {
		t.Errorf("conditions: %+v", p.Conditions)
	}
	if got := len(c.reports("Scheduled")); got != 8 {
		t.Errorf("%d Scheduled events, want 8", got)
	}
}

func TestADrainMovesPods(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	old := c.node("old", "a")
	c.deploy(t, actors.Deployment, "web", 3, app("web", 500))
	c.run(t, time.Minute)
	c.node("new", "a")
	c.cordon(old)
	for _, p := range c.pods("web") {
		c.API.DeletePod(p, kube.OwnGrace)
	}
	c.run(t, c.Now()+time.Second+500*time.Millisecond)
	if diff := cmp.Diff(map[string]int{"old": 3, "new": 3}, c.placed("web")); diff != "" {
		t.Errorf("replacements don't wait for what they replace:\n%s", diff)
	}
	c.run(t, c.Now()+time.Minute)
	if diff := cmp.Diff(map[string]int{"new": 3}, c.placed("web")); diff != "" {
		t.Error(diff)
	}
}

// TestTooLarge has a pod that no node holds, even when empty.
func TestTooLarge(t *testing.T) {
	for version, want := range map[string]string{
		"1.33": "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
		"1.34": "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
	} {
		c := newPlacing(t, version, true)
		c.node("n1", "a")
		c.deploy(t, actors.Deployment, "web", 1, app("web", 100_000))
		c.run(t, time.Minute)
		if got := c.pods("web")[0].Conditions.Get("PodScheduled").Message; got != want {
			t.Errorf("%s: found %q, want %q", version, got, want)
		}
	}
}

func TestNoRoom(t *testing.T) {
	for _, test := range []struct{ version, want string }{
		{"1.36", "0/5 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu. no new claims to deallocate, preemption: 0/5 nodes are available: 2 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling."},
		{"1.33", "0/5 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint {example.com/gpu: yes}, 1 node(s) were unschedulable, 2 Insufficient cpu. preemption: 0/5 nodes are available: 2 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling."},
	} {
		t.Run(test.version, func(t *testing.T) {
			c := newPlacing(t, test.version, true)
			inPool := func(n *kube.Node) { n.Labels = n.Labels.With("pool", "web") }
			c.node("n1", "a", inPool)
			c.node("n2", "a", inPool)
			c.cordon(c.node("n3", "a", inPool))
			c.node("n4", "a", inPool, func(n *kube.Node) {
				n.Taints = []kube.Taint{{Key: "example.com/gpu", Value: "yes", Effect: "NoSchedule"}}
			})
			c.node("n5", "a")
			template := app("web", 3000)
			template.NodeSelector = kube.PairsOf(kube.Pair{Key: "pool", Value: "web"})
			c.deploy(t, actors.Deployment, "web", 3, template)
			c.run(t, time.Minute)
			pending := 0
			for _, p := range c.pods("web") {
				if p.NodeName != "" {
					continue
				}
				pending++
				if cond := p.Conditions.Get("PodScheduled"); cond == nil || cond.Status != "False" || cond.Reason != "Unschedulable" || cond.Message != test.want {
					t.Errorf("condition %+v", cond)
				}
			}
			if pending != 1 {
				t.Errorf("%d pods wait, want 1", pending)
			}
			if diff := cmp.Diff([]string{"Pod " + test.want}, c.reports("FailedScheduling")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPodWaitsForRoom(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(c *placing, full, cordoned *kube.Node)
	}{
		{"a new node", func(c *placing, _, _ *kube.Node) { c.node("new", "a") }},
		{"an uncordon", func(c *placing, _, cordoned *kube.Node) {
			c.API.UpdateNode(cordoned, func(n *kube.Node) { n.Unschedulable, n.Taints = false, nil })
		}},
		{"a pod that goes", func(c *placing, full, _ *kube.Node) {
			if err := c.Scale("shop", "heavy", 0); err != nil {
				c.Fail(err)
			}
		}},
		{"a pod that ends", func(c *placing, full, _ *kube.Node) {
			if err := c.Scale("shop", "heavy", 0); err != nil {
				c.Fail(err)
			}
			c.API.UpdatePod(c.pods("heavy")[0], func(p *kube.Pod) { p.Phase = "Failed" })
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newPlacing(t, "1.34", true)
			full := c.node("full", "a")
			cordoned := c.node("cordoned", "a")
			c.cordon(cordoned)
			c.deploy(t, actors.Deployment, "heavy", 1, app("heavy", 3500))
			c.run(t, 30*time.Second)
			c.deploy(t, actors.Deployment, "web", 1, app("web", 1000))
			c.run(t, time.Minute)
			if diff := cmp.Diff(map[string]int{"": 1}, c.placed("web")); diff != "" {
				t.Fatal(diff)
			}
			test.make(c, full, cordoned)
			c.run(t, c.Now()+15*time.Second)
			if got := c.placed("web"); got[""] != 0 {
				t.Errorf("still waits: %v", got)
			}
		})
	}
}

func TestNoNodesAtAll(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.deploy(t, actors.Deployment, "web", 1, app("web", 100))
	c.run(t, time.Minute)
	if diff := cmp.Diff([]string{"Pod no nodes available to schedule pods"}, c.reports("FailedScheduling")); diff != "" {
		t.Error(diff)
	}
}

func TestHardSpreadWaitsForItsZone(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.node("a1", "a")
	b := c.node("b1", "b")
	c.cordon(b)
	template := app("web", 100)
	template.Spread = []kube.Spread{{MaxSkew: 1, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: "DoNotSchedule", Selector: template.Labels}}
	c.deploy(t, actors.Deployment, "web", 4, template)
	c.run(t, time.Minute)
	if diff := cmp.Diff(map[string]int{"a1": 1, "": 3}, c.placed("web")); diff != "" {
		t.Fatal(diff)
	}
	want := "Pod 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
	if got := c.reports("FailedScheduling"); len(got) == 0 || got[0] != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	c.API.UpdateNode(b, func(n *kube.Node) { n.Unschedulable, n.Taints = false, nil })
	c.run(t, c.Now()+time.Minute)
	if diff := cmp.Diff(map[string]int{"a1": 2, "b1": 2}, c.placed("web")); diff != "" {
		t.Error(diff)
	}
}

func TestAVolumeKeepsItsPodInItsZone(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	a := c.node("a1", "a")
	template := app("db", 100)
	template.Volume = "data"
	c.deploy(t, actors.StatefulSet, "db", 1, template)
	c.run(t, time.Minute)
	c.node("b1", "b")
	c.cordon(a)
	c.API.DeletePod(c.pods("db")[0], kube.OwnGrace)
	c.run(t, 2*time.Minute)
	want := "Pod 0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	if got := c.reports("FailedScheduling"); len(got) != 1 || got[0] != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	c.node("a2", "a")
	c.run(t, 3*time.Minute)
	if diff := cmp.Diff(map[string]int{"a2": 1}, c.placed("db")); diff != "" {
		t.Error(diff)
	}
}

func TestTheImportantGoFirst(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.deploy(t, actors.Deployment, "web", 4, app("web", 3000))
	critical := app("dns", 3000)
	critical.Priority, critical.PriorityClass = 2_000_000_000, "system-cluster-critical"
	c.deploy(t, actors.Deployment, "dns", 1, critical)
	c.run(t, time.Minute)
	c.node("n1", "a")
	c.run(t, 2*time.Minute)
	if diff := cmp.Diff(map[string]int{"n1": 1}, c.placed("dns")); diff != "" {
		t.Error(diff)
	}
}

func TestAPodThatGoesIsSkipped(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.cordon(c.node("n1", "a"))
	template := app("web", 100)
	template.Finalizers = []string{"example.com/hold"}
	c.deploy(t, actors.Deployment, "web", 1, template)
	c.run(t, time.Minute)
	p := c.pods("web")[0]
	if err := c.Scale("shop", "web", 0); err != nil {
		t.Fatal(err)
	}
	c.run(t, 2*time.Minute)
	c.node("n2", "a")
	c.run(t, 3*time.Minute)
	got := c.reports("FailedScheduling")
	if len(got) != 2 || got[1] != "Pod skip schedule deleting pod: shop/"+p.Name || p.NodeName != "" {
		t.Errorf("on %q: %q", p.NodeName, got)
	}
}

// A message that stays the same is told of the pod as it was created and as it
// was when that had been noted in its status; after that it is a series.
func TestAPodThatWaitsLongIsToldOfTwice(t *testing.T) {
	c := newPlacing(t, "1.36", true)
	c.cordon(c.node("n1", "a"))
	c.deploy(t, actors.Deployment, "web", 1, app("web", 100))
	c.run(t, time.Minute)
	versions := map[uint64]bool{c.pods("web")[0].Version(): true}
	c.run(t, 40*time.Minute)
	versions[c.pods("web")[0].Version()] = true
	if got := len(c.reports("FailedScheduling")); got != 2 || len(versions) != 1 {
		t.Errorf("%d reports, %d versions of the pod", got, len(versions))
	}
}

func TestTheSameSeedPlacesTheSame(t *testing.T) {
	story := func() []string {
		c := newPlacing(t, "1.36", true)
		for _, n := range []string{"a1", "a2", "b1"} {
			c.node(n, n[:1])
		}
		c.deploy(t, actors.Deployment, "web", 20, app("web", 400))
		c.deploy(t, actors.DaemonSet, "agent", 0, critical("agent", 300))
		c.deploy(t, actors.Job, "sum", 5, app("sum", 700))
		c.run(t, 10*time.Minute)
		return c.told
	}
	one := story()
	if diff := cmp.Diff(one, story()); diff != "" || len(one) < 40 {
		t.Errorf("%d lines:\n%s", len(one), diff)
	}
}

// A few empty nodes among many full ones of the same kind get all that comes,
// and evenly.
func TestFewEmptyNodesAmongManyFull(t *testing.T) {
	c := newPlacing(t, "1.36", false)
	for i := range 600 {
		c.node(fmt.Sprint("full-", i), string(rune('a'+i%3)), func(n *kube.Node) {
			n.Allocatable = n.Allocatable.With("cpu", "1")
		})
	}
	c.deploy(t, actors.DaemonSet, "agent", 0, app("agent", 900))
	c.run(t, time.Minute)
	for i := range 6 {
		c.node(fmt.Sprint("empty-", i), string(rune('a'+i%3)))
	}
	c.deploy(t, actors.Deployment, "web", 60, app("web", 200))
	c.run(t, 2*time.Minute)
	got := c.placed("web")
	for i := range 6 {
		if n := got[fmt.Sprint("empty-", i)]; n < 9 || n > 11 {
			t.Errorf("%d of 60 pods on a node of six: %v", n, got)
		}
	}
}
