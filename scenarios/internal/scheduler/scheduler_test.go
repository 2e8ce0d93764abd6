package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

func TestPodsSpreadOverHostsAndZones(t *testing.T) {
	c := placing.New(t, "1.36", true)
	for _, n := range []string{"a1", "a2", "b1", "b2"} {
		c.Node(n, n[:1])
	}
	c.Deploy(t, controllers.Deployment, "web", 8, placing.App("web", 500))
	c.RunTo(t, time.Minute)
	if diff := cmp.Diff(map[string]int{"a1": 2, "a2": 2, "b1": 2, "b2": 2}, c.Placed("web")); diff != "" {
		t.Error(diff)
	}
	p := c.Pods("web")[0]
	if zone := p.Labels.Get("topology.kubernetes.io/zone"); zone != p.NodeName[:1] {
		t.Errorf("the pod on %s is labelled with zone %q", p.NodeName, zone)
	}
	if !p.Conditions.Is("PodScheduled", "True") {
		t.Errorf("conditions: %+v", p.Conditions)
	}
	if got := len(c.Reports("Scheduled")); got != 8 {
		t.Errorf("%d Scheduled events, want 8", got)
	}
}

func TestADrainMovesPods(t *testing.T) {
	c := placing.New(t, "1.36", true)
	old := c.Node("old", "a")
	c.Deploy(t, controllers.Deployment, "web", 3, placing.App("web", 500))
	c.RunTo(t, time.Minute)
	c.Node("new", "a")
	c.Cordon(old)
	for _, p := range c.Pods("web") {
		c.API.DeletePod(p, kube.OwnGrace)
	}
	c.RunTo(t, c.Now()+time.Second+500*time.Millisecond)
	if diff := cmp.Diff(map[string]int{"old": 3, "new": 3}, c.Placed("web")); diff != "" {
		t.Errorf("replacements don't wait for what they replace:\n%s", diff)
	}
	c.RunTo(t, c.Now()+time.Minute)
	if diff := cmp.Diff(map[string]int{"new": 3}, c.Placed("web")); diff != "" {
		t.Error(diff)
	}
}

// TestTooLarge has a pod that no node holds, even when empty.
func TestTooLarge(t *testing.T) {
	for version, want := range map[string]string{
		"1.33": "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
		"1.34": "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
	} {
		c := placing.New(t, version, true)
		c.Node("n1", "a")
		c.Deploy(t, controllers.Deployment, "web", 1, placing.App("web", 100_000))
		c.RunTo(t, time.Minute)
		if got := c.Pods("web")[0].Conditions.Get("PodScheduled").Message; got != want {
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
			c := placing.New(t, test.version, true)
			inPool := func(n *kube.Node) { n.Labels = n.Labels.With("pool", "web") }
			c.Node("n1", "a", inPool)
			c.Node("n2", "a", inPool)
			c.Cordon(c.Node("n3", "a", inPool))
			c.Node("n4", "a", inPool, func(n *kube.Node) {
				n.Taints = []kube.Taint{{Key: "example.com/gpu", Value: "yes", Effect: "NoSchedule"}}
			})
			c.Node("n5", "a")
			template := placing.App("web", 3000)
			template.NodeSelector = kube.PairsOf(kube.Pair{Key: "pool", Value: "web"})
			c.Deploy(t, controllers.Deployment, "web", 3, template)
			c.RunTo(t, time.Minute)
			pending := 0
			for _, p := range c.Pods("web") {
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
			if diff := cmp.Diff([]string{"Pod " + test.want}, c.Reports("FailedScheduling")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPodWaitsForRoom(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(c *placing.Cluster, full, cordoned *kube.Node)
	}{
		{"a new node", func(c *placing.Cluster, _, _ *kube.Node) { c.Node("new", "a") }},
		{"an uncordon", func(c *placing.Cluster, _, cordoned *kube.Node) {
			c.API.UpdateNode(cordoned, func(n *kube.Node) { n.Unschedulable, n.Taints = false, nil })
		}},
		{"a pod that goes", func(c *placing.Cluster, full, _ *kube.Node) {
			if err := c.Scale("shop", "heavy", 0); err != nil {
				c.Fail(err)
			}
		}},
		{"a pod that ends", func(c *placing.Cluster, full, _ *kube.Node) {
			if err := c.Scale("shop", "heavy", 0); err != nil {
				c.Fail(err)
			}
			c.API.UpdatePod(c.Pods("heavy")[0], func(p *kube.Pod) { p.Phase = "Failed" })
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := placing.New(t, "1.34", true)
			full := c.Node("full", "a")
			cordoned := c.Node("cordoned", "a")
			c.Cordon(cordoned)
			c.Deploy(t, controllers.Deployment, "heavy", 1, placing.App("heavy", 3500))
			c.RunTo(t, 30*time.Second)
			c.Deploy(t, controllers.Deployment, "web", 1, placing.App("web", 1000))
			c.RunTo(t, time.Minute)
			if diff := cmp.Diff(map[string]int{"": 1}, c.Placed("web")); diff != "" {
				t.Fatal(diff)
			}
			test.make(c, full, cordoned)
			c.RunTo(t, c.Now()+15*time.Second)
			if got := c.Placed("web"); got[""] != 0 {
				t.Errorf("still waits: %v", got)
			}
		})
	}
}

func TestNoNodesAtAll(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Deploy(t, controllers.Deployment, "web", 1, placing.App("web", 100))
	c.RunTo(t, time.Minute)
	if diff := cmp.Diff([]string{"Pod no nodes available to schedule pods"}, c.Reports("FailedScheduling")); diff != "" {
		t.Error(diff)
	}
}

func TestHardSpreadWaitsForItsZone(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("a1", "a")
	b := c.Node("b1", "b")
	c.Cordon(b)
	template := placing.App("web", 100)
	template.Spread = []kube.Spread{{MaxSkew: 1, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: "DoNotSchedule", Selector: template.Labels}}
	c.Deploy(t, controllers.Deployment, "web", 4, template)
	c.RunTo(t, time.Minute)
	if diff := cmp.Diff(map[string]int{"a1": 1, "": 3}, c.Placed("web")); diff != "" {
		t.Fatal(diff)
	}
	want := "Pod 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
	if got := c.Reports("FailedScheduling"); len(got) == 0 || got[0] != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	c.API.UpdateNode(b, func(n *kube.Node) { n.Unschedulable, n.Taints = false, nil })
	c.RunTo(t, c.Now()+time.Minute)
	if diff := cmp.Diff(map[string]int{"a1": 2, "b1": 2}, c.Placed("web")); diff != "" {
		t.Error(diff)
	}
}

// A cordoned node without pods has pods wait that are spread evenly, and they run once it is deleted.
func TestHardSpreadForgetsANodeThatGoes(t *testing.T) {
	for _, key := range []string{zoneLabel, hostLabel} {
		for name, change := range map[string]func(*controllers.PodTemplate){
			"spread": func(p *controllers.PodTemplate) {
				p.Spread = []kube.Spread{{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: "DoNotSchedule", Selector: p.Labels}}
			},
			"demands": func(p *controllers.PodTemplate) {
				p.Written = &kube.Template{Containers: p.Containers, GraceSeconds: p.GraceSeconds, Demands: &kube.Demands{
					Spread: []kube.SpreadTerm{{MaxSkew: 1, MinDomains: 1, TopologyKey: key, Hard: true, Selector: apps("web")}},
				}}
			},
		} {
			t.Run(name+" by "+key, func(t *testing.T) {
				c := placing.New(t, "1.36", true)
				c.Node("a1", "a")
				b := c.Node("b1", "b")
				c.Cordon(b)
				template := placing.App("web", 100)
				change(&template)
				c.Deploy(t, controllers.Deployment, "web", 4, template)
				c.RunTo(t, time.Minute)
				if diff := cmp.Diff(map[string]int{"a1": 1, "": 3}, c.Placed("web")); diff != "" {
					t.Fatal(diff)
				}
				c.API.DeleteNode(b)
				c.RunTo(t, c.Now()+15*time.Second)
				if diff := cmp.Diff(map[string]int{"a1": 4}, c.Placed("web")); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestAVolumeKeepsItsPodInItsZone(t *testing.T) {
	c := placing.New(t, "1.36", true)
	a := c.Node("a1", "a")
	template := placing.App("db", 100)
	template.Volume = "data"
	c.Deploy(t, controllers.StatefulSet, "db", 1, template)
	c.RunTo(t, time.Minute)
	c.Node("b1", "b")
	c.Cordon(a)
	c.API.DeletePod(c.Pods("db")[0], kube.OwnGrace)
	c.RunTo(t, 2*time.Minute)
	want := "Pod 0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	if got := c.Reports("FailedScheduling"); len(got) != 1 || got[0] != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	c.Node("a2", "a")
	c.RunTo(t, 3*time.Minute)
	if diff := cmp.Diff(map[string]int{"a2": 1}, c.Placed("db")); diff != "" {
		t.Error(diff)
	}
}

func TestTheImportantGoFirst(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Deploy(t, controllers.Deployment, "web", 4, placing.App("web", 3000))
	critical := placing.App("dns", 3000)
	critical.Priority, critical.PriorityClass = 2_000_000_000, "system-cluster-critical"
	c.Deploy(t, controllers.Deployment, "dns", 1, critical)
	c.RunTo(t, time.Minute)
	c.Node("n1", "a")
	c.RunTo(t, 2*time.Minute)
	if diff := cmp.Diff(map[string]int{"n1": 1}, c.Placed("dns")); diff != "" {
		t.Error(diff)
	}
}

func TestAPodThatGoesIsSkipped(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Cordon(c.Node("n1", "a"))
	template := placing.App("web", 100)
	template.Finalizers = []string{"example.com/hold"}
	c.Deploy(t, controllers.Deployment, "web", 1, template)
	c.RunTo(t, time.Minute)
	p := c.Pods("web")[0]
	if err := c.Scale("shop", "web", 0); err != nil {
		t.Fatal(err)
	}
	c.RunTo(t, 2*time.Minute)
	c.Node("n2", "a")
	c.RunTo(t, 3*time.Minute)
	got := c.Reports("FailedScheduling")
	if len(got) != 2 || got[1] != "Pod skip schedule deleting pod: shop/"+p.Name || p.NodeName != "" {
		t.Errorf("on %q: %q", p.NodeName, got)
	}
}

// A message that stays the same is told of the pod as it was created and as it
// was when that had been noted in its status; after that it is a series.
func TestAPodThatWaitsLongIsToldOfTwice(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Cordon(c.Node("n1", "a"))
	c.Deploy(t, controllers.Deployment, "web", 1, placing.App("web", 100))
	c.RunTo(t, time.Minute)
	versions := map[uint64]bool{c.Pods("web")[0].Version(): true}
	c.RunTo(t, 40*time.Minute)
	versions[c.Pods("web")[0].Version()] = true
	if got := len(c.Reports("FailedScheduling")); got != 2 || len(versions) != 1 {
		t.Errorf("%d reports, %d versions of the pod", got, len(versions))
	}
}

func TestTheSameSeedPlacesTheSame(t *testing.T) {
	story := func() []string {
		c := placing.New(t, "1.36", true)
		for _, n := range []string{"a1", "a2", "b1"} {
			c.Node(n, n[:1])
		}
		c.Deploy(t, controllers.Deployment, "web", 20, placing.App("web", 400))
		c.Deploy(t, controllers.DaemonSet, "agent", 0, critical("agent", 300))
		c.Deploy(t, controllers.Job, "sum", 5, placing.App("sum", 700))
		c.RunTo(t, 10*time.Minute)
		return c.Told
	}
	one := story()
	if diff := cmp.Diff(one, story()); diff != "" || len(one) < 40 {
		t.Errorf("%d lines:\n%s", len(one), diff)
	}
}

// A few empty nodes among many full ones of the same kind get all that comes,
// and evenly.
func TestFewEmptyNodesAmongManyFull(t *testing.T) {
	c := placing.New(t, "1.36", false)
	for i := range 600 {
		c.Node(fmt.Sprint("full-", i), string(rune('a'+i%3)), func(n *kube.Node) {
			n.Allocatable = n.Allocatable.With("cpu", "1")
		})
	}
	c.Deploy(t, controllers.DaemonSet, "agent", 0, placing.App("agent", 900))
	c.RunTo(t, time.Minute)
	for i := range 6 {
		c.Node(fmt.Sprint("empty-", i), string(rune('a'+i%3)))
	}
	c.Deploy(t, controllers.Deployment, "web", 60, placing.App("web", 200))
	c.RunTo(t, 2*time.Minute)
	got := c.Placed("web")
	for i := range 6 {
		if n := got[fmt.Sprint("empty-", i)]; n < 9 || n > 11 {
			t.Errorf("%d of 60 pods on a node of six: %v", n, got)
		}
	}
}
