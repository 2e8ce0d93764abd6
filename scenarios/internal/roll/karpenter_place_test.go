package roll_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Karpenter launches nodes for pods as the scheduler will place them: apart where they have to be, where their volume or
// their selector is, and none where no node helps. No pod waits beside a node of its own.
func TestKarpenterPlacesAsTheSchedulerDoes(t *testing.T) {
	own := &kube.Selector{Requirements: []kube.Requirement{{Key: "app", Operator: "In", Values: []string{"db"}}}}
	apart := func(key string) kube.Demands {
		return kube.Demands{AntiAffinity: []kube.PodTerm{{TopologyKey: key, Selector: own}}}
	}
	inZone := func(zone string) kube.Demands {
		return kube.Demands{NodeAffinity: &kube.NodeAffinity{Required: []kube.NodeTerm{{Labels: []kube.Requirement{{Key: component.LabelZone, Operator: "In", Values: []string{zone}}}}}}}
	}
	for name, test := range map[string]struct {
		demands  kube.Demands
		spread   []kube.Spread
		selector kube.Pairs
		shortage string // a zone that has no capacity for 10 minutes
		want     string // launches by zone, and pods that wait in the end
	}{
		"anything":      {want: "1 in 1 zones, 0 wait"},
		"hosts":         {demands: apart(component.LabelHostname), want: "4 in 3 zones, 0 wait"},
		"zones":         {demands: apart(component.LabelZone), want: "3 in 3 zones, 1 wait"},
		"node affinity": {demands: inZone("us-east-1c"), want: "1 in 1 zones, 0 wait"},
		"no such zone":  {demands: inZone("us-east-1z"), want: "0 in 0 zones, 4 wait"},
		"near others":   {demands: kube.Demands{Affinity: []kube.PodTerm{{TopologyKey: component.LabelHostname, Selector: &kube.Selector{Requirements: []kube.Requirement{{Key: "app", Operator: "In", Values: []string{"cache"}}}}}}}, want: "0 in 0 zones, 4 wait"},
		"selector":      {selector: kube.PairsOf(kube.Pair{Key: "team", Value: "a"}), want: "0 in 0 zones, 4 wait"},
		"ports":         {demands: kube.Demands{Ports: []kube.HostPort{{IP: "0.0.0.0", Protocol: "TCP", Port: 80}}}, want: "4 in 3 zones, 0 wait"},
		"resources":     {demands: kube.Demands{More: []kube.Amount{{Resource: "ephemeral-storage", Value: 8 << 30}}}, want: "2 in 2 zones, 0 wait"},
		"no capacity":   {demands: apart(component.LabelZone), shortage: "us-east-1a", want: "3 in 3 zones, 1 wait"},
		"short spread":  {spread: []kube.Spread{{MaxSkew: 1, TopologyKey: component.LabelZone, WhenUnsatisfiable: "DoNotSchedule", Selector: kube.PairsOf(kube.Pair{Key: "app", Value: "db"})}}, shortage: "us-east-1a", want: "3 in 3 zones, 0 wait"},
		"spread":        {spread: []kube.Spread{{MaxSkew: 1, TopologyKey: component.LabelZone, WhenUnsatisfiable: "DoNotSchedule", Selector: kube.PairsOf(kube.Pair{Key: "app", Value: "db"})}}, want: "3 in 3 zones, 0 wait"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, spec{provider: model.Karpenter, nodes: 3, zones: 3, seed: 3, detached: true})
			before := len(c.group.Instances())
			for _, n := range c.API.Nodes() {
				c.At(0, func() { c.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = true }) })
			}
			w := controllers.Workload{Kind: controllers.Deployment, Namespace: "shop", Name: "db", Replicas: 4, CreateAt: time.Second}
			w.Template.Labels = kube.PairsOf(kube.Pair{Key: "app", Value: "db"})
			w.Template.Containers = []kube.ContainerSpec{{Name: "db", Image: "registry.example/db:1", CPU: 100}}
			w.Template.Written = &kube.Template{Containers: w.Template.Containers, Demands: &test.demands, Spread: test.spread, NodeSelector: test.selector}
			if err := c.workloads.Add(w); err != nil {
				t.Fatal(err)
			}
			if test.shortage != "" {
				c.At(0, func() { c.Cloud.Shortage(test.shortage, "", true) })
				c.At(10*time.Minute, func() { c.Cloud.Shortage(test.shortage, "", false) })
			}
			c.run(30 * time.Minute)
			if n := len(c.reported("InsufficientCapacityError")); n > 4 {
				t.Errorf("%d launches were refused, want one in three minutes", n)
			}
			zones := map[string]bool{}
			for _, i := range c.group.Instances()[before:] {
				zones[i.Zone] = true
				if name == "node affinity" && i.Zone != "us-east-1c" {
					t.Errorf("a node in %s, want us-east-1c", i.Zone)
				}
			}
			wait := 0
			for _, p := range c.API.Pods() {
				if p.NodeName == "" {
					wait++
				}
			}
			if got := fmt.Sprintf("%d in %d zones, %d wait", len(c.group.Instances())-before, len(zones), wait); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// A pod that must not be disrupted is waited for, and its node as long: until the terminationGracePeriod ends, for which its
// grace period is counted backwards.
func TestKarpenterWaitsForPodsThatMustNotBeDisrupted(t *testing.T) {
	for _, period := range []time.Duration{0, 20 * time.Minute} {
		t.Run(period.String(), func(t *testing.T) {
			c := newCluster(t, spec{provider: model.Karpenter, nodes: 2, zones: 1, pods: 6, seed: 3, detached: true, gracePeriod: period})
			lost := c.group.Instances()[0]
			var kept *kube.Pod
			c.At(time.Second, func() {
				pods := c.API.PodsOn(lost.Name)
				kept = pods[slices.IndexFunc(pods, func(p *kube.Pod) bool { return p.Owner.Kind == "ReplicaSet" })]
				c.API.UpdatePod(kept, func(p *kube.Pod) { p.Annotations = p.Annotations.With("karpenter.sh/do-not-disrupt", "true") })
				c.API.UpdatePod(kept, func(p *kube.Pod) { p.SetFinalizer("example.com/hold", true) })
			})
			c.At(noticeAt, func() { c.API.DeleteNode(c.API.Node(lost.Name)) })
			c.run(18 * time.Minute)
			for _, p := range c.API.PodsOn(lost.Name) {
				if p.Owner.Kind == "ReplicaSet" && p != kept {
					t.Errorf("%s is still there", p.Name)
				}
			}
			if kept.Terminating() || c.API.Node(lost.Name) == nil {
				t.Fatalf("the pod was deleted at %v, its node is %v", kept.Deleting, c.API.Node(lost.Name))
			}
			c.run(40 * time.Minute)
			gone := c.first("node-deleted", lost.Name)
			if period == 0 {
				if gone >= 0 || kept.Terminating() {
					t.Errorf("the node was gone at %v, want it to wait for its pod", gone)
				}
				return
			}
			ends := noticeAt + period
			if at := c.first("deleted", lost.Name); at < ends-31*time.Second || at > ends-29*time.Second {
				t.Errorf("the pod was deleted at %v, want 30 s before %v", at, ends)
			}
			if gone < ends || gone > ends+4*time.Minute {
				t.Errorf("the node was gone at %v, want it soon after %v, whatever holds its pod", gone, ends)
			}
			told := c.reported("Disrupted")
			if len(told) != 1 || !strings.Contains(told[0].message, "30 seconds of grace-period of its 30 terminationGracePeriodSeconds") {
				t.Errorf("Disrupted was said %d times: %+v", len(told), told)
			}
			if len(c.reported("TerminationGracePeriodExpiring")) == 0 {
				t.Error("nothing says when the node ends")
			}
		})
	}
}

// What kept a pod from every new node may be over: the annotation of one that must not be disrupted, and the pod that
// shares its zone.
func TestKarpenterLooksAgain(t *testing.T) {
	c := newCluster(t, spec{provider: model.Karpenter, nodes: 2, zones: 1, pods: 6, seed: 3, detached: true})
	lost := c.group.Instances()[0]
	c.At(time.Second, func() {
		for _, p := range c.API.PodsOn(lost.Name) {
			c.API.UpdatePod(p, func(p *kube.Pod) { p.Annotations = p.Annotations.With("karpenter.sh/do-not-disrupt", "true") })
		}
	})
	c.At(noticeAt, func() { c.API.DeleteNode(c.API.Node(lost.Name)) })
	c.At(30*time.Minute, func() {
		for _, p := range c.API.PodsOn(lost.Name) {
			c.API.UpdatePod(p, func(p *kube.Pod) { p.Annotations = nil })
		}
	})
	c.run(time.Hour)
	if gone := c.first("node-deleted", lost.Name); gone < 30*time.Minute || gone > 35*time.Minute {
		t.Errorf("the node was gone at %v, want it soon after 30m", gone)
	}

	c = newCluster(t, spec{provider: model.Karpenter, nodes: 1, zones: 1, seed: 3, detached: true})
	w := controllers.Workload{Kind: controllers.Deployment, Namespace: "shop", Name: "db", Replicas: 2, CreateAt: time.Second}
	w.Template.Labels = kube.PairsOf(kube.Pair{Key: "app", Value: "db"})
	w.Template.Containers = []kube.ContainerSpec{{Name: "db", Image: "registry.example/db:1", CPU: 1500}}
	w.Template.Written = &kube.Template{Containers: w.Template.Containers, Demands: &kube.Demands{AntiAffinity: []kube.PodTerm{{
		TopologyKey: component.LabelZone, Selector: &kube.Selector{Requirements: []kube.Requirement{{Key: "app", Operator: "In", Values: []string{"db"}}}},
	}}}}
	if err := c.workloads.Add(w); err != nil {
		t.Fatal(err)
	}
	c.At(10*time.Minute, func() {
		n := c.API.Nodes()[0]
		c.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = true })
		for _, p := range c.API.PodsOn(n.Name) {
			c.API.DeletePod(p, 0)
		}
	})
	c.run(30 * time.Minute)
	waits := 0
	for _, p := range c.API.Pods() {
		if p.NodeName == "" {
			waits++
		}
	}
	if waits != 1 || len(c.group.Instances()) != 2 {
		t.Errorf("%d pods wait, %d nodes: want one pod to wait, and a second node for the other", waits, len(c.group.Instances()))
	}
}

// A pod for which the scheduler makes room by preemption gets no node, unless it loses that room.
func TestKarpenterLaunchesNothingForTheNominated(t *testing.T) {
	c := newCluster(t, spec{provider: model.Karpenter, nodes: 1, zones: 1, seed: 3, detached: true})
	p := &kube.Pod{
		Meta: kube.Meta{Namespace: "shop", Name: "urgent"}, Phase: "Pending", Nominated: c.API.Nodes()[0].Name,
		Conditions: kube.Conditions{{Type: "PodScheduled", Status: "False", Reason: "Unschedulable"}},
		Template:   &kube.Template{Containers: []kube.ContainerSpec{{Name: "c", Image: "c:1", CPU: 100}}, SchedulerName: "another"},
	}
	if err := c.API.CreatePod(p); err != nil {
		t.Fatal(err)
	}
	c.run(5 * time.Minute)
	if n := len(c.group.Instances()); n != 1 {
		t.Errorf("%d nodes while the pod is nominated, want the one that is there", n)
	}
	c.After(0, func() { c.API.UpdatePod(p, func(p *kube.Pod) { p.Nominated = "" }) })
	c.run(10 * time.Minute)
	if n := len(c.group.Instances()); n != 2 {
		t.Errorf("%d nodes when the pod isn't nominated any more, want another one", n)
	}
}
