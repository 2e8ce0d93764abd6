package autoscaler_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// doomedAt is when a node was first said to go.
func (c *scaling) doomedAt() *time.Duration {
	var at time.Duration
	c.API.WatchNodes(func(_ kube.Change, _, n *kube.Node) {
		if at == 0 && n.HasTaint("ToBeDeletedByClusterAutoscaler", "NoSchedule") {
			at = c.Now()
		}
	})
	return &at
}

func (c *scaling) wantBetween(what string, got, from, to time.Duration) {
	c.Helper()
	if got < from || got > to {
		c.Errorf("%s after %v, want %v to %v", what, got, from, to)
	}
}

func TestAYoungNodeIsntIdle(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 1")
	c.Timings.AutoscalerIdle = model.Fixed(time.Minute)
	c.deploy("web", 1, 900) // the old node is in use
	c.run(time.Minute)
	c.scale()
	at := c.doomedAt()
	var born time.Duration
	c.API.WatchNodes(func(change kube.Change, _, _ *kube.Node) {
		if change == kube.Added {
			born = c.Now()
		}
	})
	c.Cloud.SetDesired(c.groups[0], 2) // somebody's surge
	c.run(time.Hour)
	c.wantBetween("a node goes", *at-born, 6*time.Minute, 6*time.Minute+30*time.Second)
	c.wantSizes("workers 1/1")
}

func TestNothingGoesSoonBehindAScaleUp(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 3", "batch 0..9 0=pool")
	c.scale()
	at := c.doomedAt()
	c.run(9 * time.Minute)
	c.deploy("nightly", 1, 900, func(w *controllers.Workload) {
		w.Template.NodeSelector = kube.PairsOf(kube.Pair{Key: "pool", Value: "batch"})
	})
	c.run(30 * time.Minute)
	c.wantBetween("a node goes", *at, 19*time.Minute, 20*time.Minute)
}

func TestADoomedNodeThatIsUsedLives(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 2")
	c.scale()
	daring := &kube.Template{
		Containers:   []kube.ContainerSpec{{Name: "web", Image: "registry.example/web:1", CPU: 100, Memory: 128 << 20}},
		GraceSeconds: 30, RestartPolicy: "Always", SchedulerName: "default-scheduler",
	}
	daring.Tolerations = []kube.Toleration{{Operator: "Exists", Seconds: -1}}
	used := ""
	c.API.WatchNodes(func(_ kube.Change, old, n *kube.Node) {
		if used == "" && n.HasTaint("ToBeDeletedByClusterAutoscaler", "") {
			used = n.Name
			c.After(time.Second, func() {
				p := &kube.Pod{Template: daring, NodeName: n.Name, Phase: "Pending"}
				p.Namespace, p.Name, p.Generation = "default", "daring", 1
				if err := c.API.CreatePod(p); err != nil {
					c.Env.Fail(err)
				}
			})
		}
	})
	c.run(10*time.Minute + 20*time.Second)
	n := c.API.Node(used)
	if used == "" || n == nil || n.HasTaint("ToBeDeletedByClusterAutoscaler", "") {
		t.Errorf("the node %q that a pod came to is %+v", used, n)
	}
	c.run(30 * time.Minute)
	if c.API.Node(used) == nil || c.groups[0].Desired != 1 {
		t.Errorf("the used node went, or none of the others did: %s", c.sizes())
	}
}

func TestThreeUnreadyNodesAreNoReasonToStop(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 4")
	c.scale()
	for _, i := range c.groups[0].Instances()[:3] {
		c.Cloud.Ail(i, func(a *cloud.Ailments) { a.KubeletDown = true })
	}
	c.run(2 * time.Minute)
	c.deploy("web", 4, 900)
	c.run(10 * time.Minute)
	c.wantSizes("workers 2/5")
}

func TestRefusalsAtOnceAreOneFailure(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 1")
	c.scale()
	c.Cloud.Shortage("", "", true)
	c.deploy("web", 12, 900)
	c.run(3 * time.Minute)
	c.Cloud.Shortage("", "", false)
	c.run(9 * time.Minute)
	c.wantSizes("workers 6/6")
}

func TestPodsThatShareNoHostGetANodeEach(t *testing.T) {
	for name, change := range map[string]func(*controllers.Workload){
		"spread": func(w *controllers.Workload) {
			w.Template.Spread = []kube.Spread{{MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "DoNotSchedule", Selector: w.Template.Labels}}
		},
		"anti-affinity": demanding(func(own kube.PodTerm) kube.Demands {
			own.TopologyKey = "kubernetes.io/hostname"
			return kube.Demands{AntiAffinity: []kube.PodTerm{own}}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			c := newScaling(t, 0, "workers 0..9 0")
			c.scale()
			c.deploy("web", 3, 100, change)
			c.run(time.Minute)
			c.wantTold(
				"1 ConfigMap Normal ScaledUpGroup: Scale-up: setting group workers size to 3 instead of 0 (max: 9)",
				"3 Pod Normal TriggeredScaleUp: pod triggered scale-up: [{workers 0->3 (max: 9)}]",
			)
		})
	}
}

// demanding gives a workload's pods demands; own is a term that selects them.
func demanding(of func(own kube.PodTerm) kube.Demands) func(*controllers.Workload) {
	return func(w *controllers.Workload) {
		own := kube.PodTerm{Selector: &kube.Selector{}}
		for _, l := range w.Template.Labels {
			own.Selector.Requirements = append(own.Selector.Requirements, kube.Requirement{Key: l.Key, Operator: "In", Values: []string{l.Value}})
		}
		demands := of(own)
		w.Template.Written = &kube.Template{Containers: w.Template.Containers, GraceSeconds: w.Template.GraceSeconds, Demands: &demands}
	}
}

func TestAMachineThatIsTakenBackIsLeftAlone(t *testing.T) {
	c := newScaling(t, 0, "workers 0..9 1=spot")
	c.scale()
	c.Cloud.Interrupt(c.groups[0].Instances()[0], time.Hour)
	c.run(30 * time.Minute)
	c.wantSizes("workers 1/1")
	c.wantTold()
}
