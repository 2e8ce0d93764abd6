package autoscaler_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// An m5.large of EKS leaves 1930m of CPU to pods: two of 900m.

func TestWaitingPodsGrowAGroup(t *testing.T) {
	c := newScaling(t, 0, "workers 1..20 1")
	c.scale()
	c.deploy("web", 20, 900)
	c.run(15 * time.Minute)
	c.wantSizes("workers 10/10")
	if c.pending() != 0 {
		t.Errorf("%d pods wait, want none", c.pending())
	}
	c.wantTold(
		"1 ConfigMap Normal ScaledUpGroup: Scale-up: setting group workers size to 10 instead of 1 (max: 20)",
		"18 Pod Normal TriggeredScaleUp: pod triggered scale-up: [{workers 1->10 (max: 20)}]",
	)
}

func TestDaemonsTakeRoomOnANewNode(t *testing.T) {
	c := newScaling(t, 0, "workers 1..20 1")
	c.scale()
	c.deploy("agent", 0, 200, func(w *controllers.Workload) { w.Kind = controllers.DaemonSet })
	c.run(time.Minute)
	c.deploy("web", 3, 900) // one fits on a node beside the agent
	c.run(10 * time.Minute)
	c.wantSizes("workers 3/3")
}

func TestAFullGroup(t *testing.T) {
	c := newScaling(t, 0, "workers 1..3 1")
	c.scale()
	c.deploy("web", 10, 900)
	c.run(10 * time.Minute)
	c.wantSizes("workers 3/3")
	if c.pending() != 4 {
		t.Errorf("%d pods wait, want 4", c.pending())
	}
	c.wantTold(
		"1 ConfigMap Normal ScaledUpGroup: Scale-up: setting group workers size to 3 instead of 1 (max: 3)",
		"4 Pod Normal TriggeredScaleUp: pod triggered scale-up: [{workers 1->3 (max: 3)}]",
		"4 Pod Normal NotTriggerScaleUp: pod didn't trigger scale-up: 1 max node group size reached",
	)
}

func TestNoGroupWillDo(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 1", "batch 0..9 0=pool", "small 1..1 1")
	c.scale()
	c.deploy("huge", 1, 2000)
	c.deploy("choosy", 1, 100, func(w *controllers.Workload) {
		w.Template.NodeSelector = kube.PairsOf(kube.Pair{Key: "pool", Value: "gpu"})
	})
	c.run(5 * time.Minute)
	c.wantSizes("workers 1/1, batch 0/0, small 1/1")
	c.wantTold(
		"1 Pod Normal NotTriggerScaleUp: pod didn't trigger scale-up: 2 Insufficient cpu, 1 max node group size reached",
		"1 Pod Normal NotTriggerScaleUp: pod didn't trigger scale-up: 2 node(s) didn't match Pod's node affinity/selector, 1 max node group size reached",
	)
}

// stopping has pods take so long to stop, and gives them twice that time.
func stopping(after time.Duration) func(*controllers.Workload) {
	return func(w *controllers.Workload) {
		w.Template.GraceSeconds, w.Template.Traits = int64(2*after/time.Second), &component.PodTraits{Stop: model.Fixed(after)}
	}
}

// No group grows for a pod that preempts others, nor for pods of less than the priority that counts.
func TestPreemptionNeedsNoNode(t *testing.T) {
	of := func(priority int32) func(*controllers.Workload) {
		return func(w *controllers.Workload) { w.Template.Priority = priority }
	}
	c := newScaling(t, 0, "workers 1..9 1")
	c.scale()
	c.deploy("batch", 3, 900, of(-11), stopping(2*time.Minute)) // two of them run
	c.run(5 * time.Minute)
	c.deploy("urgent", 1, 900) // which waits until one of them has stopped
	c.run(10 * time.Minute)
	c.wantSizes("workers 1/1")
	c.wantTold()
	if c.pending() != 2 {
		t.Errorf("%d pods wait, want two of batch", c.pending())
	}

	c = newScaling(t, 0, "workers 1..9 1")
	c.scale()
	c.deploy("batch", 3, 900, of(-10))
	c.run(10 * time.Minute)
	c.wantSizes("workers 2/2")
}

func TestAGroupGrowsFromNothing(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 1", "batch 0..9 0=pool")
	c.scale()
	c.deploy("nightly", 3, 900, func(w *controllers.Workload) {
		w.Template.NodeSelector = kube.PairsOf(kube.Pair{Key: "pool", Value: "batch"})
	})
	c.run(10 * time.Minute)
	c.wantSizes("workers 1/1, batch 2/2")
	if c.pending() != 0 {
		t.Errorf("%d pods wait, want none", c.pending())
	}
}

func TestStandbyIsKept(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 2")
	c.deploy("web", 4, 900) // both nodes are full
	c.run(time.Minute)
	c.scale(2)
	c.run(10 * time.Minute)
	c.wantSizes("workers 4/4")
	c.forget()

	// The next pods run at once, and what they took is replaced.
	c.deploy("api", 2, 900)
	c.run(20 * time.Second)
	if c.pending() != 0 {
		t.Errorf("%d pods wait with standby nodes, want none", c.pending())
	}
	c.run(10 * time.Minute)
	// The scheduler spread the two: both standby nodes are in use.
	c.wantSizes("workers 6/6")
	c.run(time.Hour)
	c.wantSizes("workers 6/6")
	for line := range c.told() {
		if strings.Contains(line, "TriggeredScaleUp") || strings.Contains(line, "ScaleDown") {
			t.Errorf("said %q, want no word of pods and of nodes that go", line)
		}
	}
}

func TestIdleNodesGo(t *testing.T) {
	c := newScaling(t, 0, "workers 2..20 2")
	c.scale()
	c.deploy("web", 12, 900)
	c.run(10 * time.Minute)
	c.wantSizes("workers 6/6")
	c.forget()
	c.keep = true
	if err := c.Scale("shop", "web", 1); err != nil {
		t.Fatal(err)
	}
	c.run(9 * time.Minute)
	c.wantSizes("workers 6/6")
	c.run(5 * time.Minute)
	if got := c.groups[0].Desired; got != 2 {
		t.Errorf("the group wants %d nodes, want 2", got)
	}
	c.wantTold("4 Node Normal ScaleDown: marked the node as toBeDeleted/unschedulable")
	// Of each node that goes: a candidate first, then doomed, both by their times
	// and without a timeAdded.
	candidate := regexp.MustCompile(`"taints":\[\{"key":"DeletionCandidateOfClusterAutoscaler","value":"\d{10}","effect":"PreferNoSchedule"\}\]`)
	doomed := regexp.MustCompile(`\},\{"key":"ToBeDeletedByClusterAutoscaler","value":"\d{10}","effect":"NoSchedule"\}\]`)
	soft, hard := 0, 0
	for _, line := range c.tape {
		if candidate.MatchString(line) {
			soft++
		}
		if doomed.MatchString(line) {
			hard++
		}
	}
	if soft != 4 || hard != 4 {
		t.Errorf("%d lines mark candidates and %d doomed nodes, want 4 of each", soft, hard)
	}
	c.run(time.Hour)
	c.wantSizes("workers 2/2")
}

func TestANodeThatIsNeededAgainIsUnmarked(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 3")
	c.scale()
	c.run(5 * time.Minute)
	marked := func() (n int) {
		for _, o := range c.API.Nodes() {
			if o.HasTaint("DeletionCandidateOfClusterAutoscaler", "PreferNoSchedule") {
				n++
			}
		}
		return n
	}
	if marked() != 2 {
		t.Fatalf("%d nodes are candidates, want the 2 above the minimum", marked())
	}
	c.deploy("web", 6, 900)
	c.run(time.Minute)
	if marked() != 0 {
		t.Errorf("%d nodes are candidates, want none", marked())
	}
	c.run(time.Hour)
	c.wantSizes("workers 3/3")
}

func TestCordonedNodesAreLeftAlone(t *testing.T) {
	c := newScaling(t, 0, "workers 0..9 3")
	c.scale()
	nodes := c.API.Nodes()
	c.API.UpdateNode(nodes[0], func(n *kube.Node) { n.Unschedulable = true })
	c.API.UpdateNode(nodes[1], func(n *kube.Node) {
		n.AddTaint(kube.Taint{Key: "karpenter.sh/disrupted", Effect: "NoSchedule"})
	})
	c.run(time.Hour)
	c.wantSizes("workers 2/2")
	for _, n := range nodes[:2] {
		if n.Gone() || n.HasTaint("ToBeDeletedByClusterAutoscaler", "") || n.HasTaint("DeletionCandidateOfClusterAutoscaler", "") {
			t.Errorf("%s was touched: %+v", n.Name, n.Taints)
		}
	}
}

func TestAnUnhealthyClusterIsLeftAlone(t *testing.T) {
	c := newScaling(t, 0, "workers 1..20 8")
	c.scale()
	for _, i := range c.groups[0].Instances()[:4] {
		c.Cloud.Kill(i, true)
	}
	c.run(2 * time.Minute)
	c.deploy("web", 20, 900)
	c.run(10 * time.Minute)
	c.wantSizes("workers 4/8")
	c.wantTold("1 ConfigMap Warning ClusterUnhealthy: Cluster is unhealthy")
}
