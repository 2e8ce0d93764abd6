package autoscaler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

func TestVolumesAndSpreadGetTheirZone(t *testing.T) {
	for name, change := range map[string]func(*controllers.Workload){
		"spread": func(w *controllers.Workload) {
			w.Template.Spread = []kube.Spread{{MaxSkew: 1, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: "DoNotSchedule", Selector: w.Template.Labels}}
		},
		"hosts": func(w *controllers.Workload) {
			w.Template.Spread = []kube.Spread{{MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "DoNotSchedule", Selector: w.Template.Labels}}
		},
		"selector": func(w *controllers.Workload) {
			w.Template.NodeSelector = kube.PairsOf(kube.Pair{Key: "topology.kubernetes.io/zone", Value: "us-east-1b"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newScaling(t, 0, "workers 1..12 1")
			c.scale()
			c.deploy("web", 4, 900, change)
			c.run(20 * time.Minute)
			if c.pending() != 0 {
				t.Errorf("%d pods wait with %s, want none", c.pending(), c.sizes())
			}
			if got := c.groups[0].Desired; got > 5 {
				t.Errorf("the group has %d nodes for 4 pods", got)
			}
		})
	}
}

func TestAVolumeWaitsForANodeInItsZone(t *testing.T) {
	c := newScaling(t, 0, "workers 0..6 1")
	c.scale()
	c.deploy("db", 1, 900, func(w *controllers.Workload) { w.Kind, w.Template.Volume = controllers.StatefulSet, "data" })
	c.run(2 * time.Minute)
	node := c.API.Nodes()[0] // in us-east-1a
	c.API.UpdateNode(node, func(n *kube.Node) { n.Unschedulable = true })
	for _, p := range c.API.PodsOn(node.Name) {
		c.API.DeletePod(p, 0)
	}
	c.run(15 * time.Minute)
	if c.pending() != 0 {
		t.Errorf("the pod waits with %s", c.sizes())
	}
	zones := map[string]int{}
	for _, p := range c.API.Pods() {
		zones[c.API.Node(p.NodeName).Labels.Get("topology.kubernetes.io/zone")]++
	}
	if diff := cmp.Diff(map[string]int{"us-east-1a": 1}, zones); diff != "" {
		t.Error(diff)
	}
}

func TestAZoneWithoutCapacityDoesntFillTheOthers(t *testing.T) {
	c := newScaling(t, 0, "workers 0..12 2")
	c.scale()
	c.deploy("db", 1, 900, func(w *controllers.Workload) { w.Kind, w.Template.Volume = controllers.StatefulSet, "data" })
	c.run(time.Minute)
	p := c.API.Pods()[0]
	node := c.API.Node(p.NodeName)
	zone := node.Labels.Get("topology.kubernetes.io/zone")
	c.Cloud.Shortage(zone, "", true)
	c.API.UpdateNode(node, func(n *kube.Node) { n.Unschedulable = true })
	c.API.DeletePod(p, 0)
	for range 9 {
		c.run(time.Minute)
		if n := c.groups[0].Desired; n > 5 {
			t.Fatalf("at %v the group wants %d nodes, none of which helps", c.Now(), n)
		}
	}
	if c.pending() != 1 {
		t.Fatalf("%d pods wait, want the one of the zone without capacity", c.pending())
	}
	c.Cloud.Shortage(zone, "", false)
	c.run(30 * time.Minute)
	if c.pending() != 0 {
		t.Errorf("the pod still waits with %s", c.sizes())
	}
}

// Two zones take two pods that are kept apart by zone, and no node helps the third.
func TestPodsThatShareNoZone(t *testing.T) {
	c := newScaling(t, 0, "workers 0..9 0")
	c.scale()
	c.deploy("web", 3, 100, demanding(func(own kube.PodTerm) kube.Demands {
		own.TopologyKey = "topology.kubernetes.io/zone"
		return kube.Demands{AntiAffinity: []kube.PodTerm{own}}
	}))
	c.run(40 * time.Minute)
	if got := c.groups[0].Desired; got != 2 || c.pending() != 1 {
		t.Errorf("%d nodes, %d pods wait, want 2 and 1: %v", got, c.pending(), c.told())
	}
	if n := c.told()["Pod Normal NotTriggerScaleUp: pod didn't trigger scale-up: 1 node(s) didn't match pod anti-affinity rules"]; n == 0 {
		t.Errorf("the pod isn't told why: %v", c.told())
	}
}

// A pod that wants others on its node gets no empty one.
func TestNoEmptyNodeIsNearOtherPods(t *testing.T) {
	c := newScaling(t, 0, "workers 0..9 0")
	c.scale()
	c.deploy("web", 2, 100, demanding(func(kube.PodTerm) kube.Demands {
		return kube.Demands{Affinity: []kube.PodTerm{{TopologyKey: "kubernetes.io/hostname", Selector: &kube.Selector{
			Requirements: []kube.Requirement{{Key: "app", Operator: "In", Values: []string{"cache"}}},
		}}}}
	}))
	c.run(20 * time.Minute)
	c.wantSizes("workers 0/0")
	if n := c.told()["Pod Normal NotTriggerScaleUp: pod didn't trigger scale-up: 1 node(s) didn't match pod affinity rules"]; n == 0 {
		t.Errorf("the pods aren't told why: %v", c.told())
	}
}

// A spread doesn't count pods that are being deleted: the zone that one of them leaves is short of a node.
func TestASpreadDoesntCountPodsThatLeave(t *testing.T) {
	c := newScaling(t, 0, "a 1..9 0", "b 1..9 0")
	for i, g := range c.groups {
		g.Zones = scalingZones[i : i+1]
		c.kubelets.Seed(c.Cloud.Seed(g, g.Zones[0]), 24*time.Hour)
	}
	c.scale()
	c.deploy("web", 2, 1500, stopping(time.Hour), func(w *controllers.Workload) {
		w.Template.Spread = []kube.Spread{{MaxSkew: 1, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: "DoNotSchedule", Selector: w.Template.Labels}}
	})
	c.run(2 * time.Minute)
	node := c.API.Node(c.groups[1].Instances()[0].Name)
	pods := c.API.PodsOn(node.Name)
	if len(pods) != 1 {
		t.Fatalf("%d pods in zone b, want one", len(pods))
	}
	c.API.UpdateNode(node, func(n *kube.Node) { n.Unschedulable = true })
	c.API.DeletePod(pods[0], kube.OwnGrace)
	c.run(8 * time.Minute)
	c.wantSizes("a 1/1, b 2/2")
	if c.pending() != 0 {
		t.Errorf("%d pods wait, want none", c.pending())
	}
}
