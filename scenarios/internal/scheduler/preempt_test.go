package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

func critical(name string, cpu int64) controllers.PodTemplate {
	t := placing.App(name, cpu)
	t.Priority, t.PriorityClass = 2_000_001_000, "system-node-critical"
	return t
}

func TestACriticalPodTakesAnothersPlace(t *testing.T) {
	c := placing.New(t, "1.34", true)
	c.Node("n1", "a")
	c.Cordon(c.Node("n2", "a"))
	c.Deploy(t, controllers.Deployment, "old", 1, placing.App("old", 1900))
	c.RunTo(t, time.Minute)
	c.Deploy(t, controllers.Deployment, "young", 1, placing.App("young", 1900))
	c.RunTo(t, 2*time.Minute)
	c.API.UpdatePod(c.Pods("young")[0], func(p *kube.Pod) { p.Started = c.API.Now() })
	victim := c.Pods("young")[0]
	c.Deploy(t, controllers.Deployment, "dns", 1, critical("dns", 1000))
	c.RunTo(t, c.Now()+2*time.Second)
	dns := c.Pods("dns")[0]
	if target := victim.Conditions.Get("DisruptionTarget"); !victim.Terminating() || target == nil || target.Reason != "PreemptionByScheduler" ||
		target.Message != "default-scheduler: preempting to accommodate a higher priority pod" {
		t.Errorf("the youngest goes: %+v", victim.Conditions)
	}
	if dns.Nominated != "n1" {
		t.Errorf("nominated for %q", dns.Nominated)
	}
	if diff := cmp.Diff([]string{"Pod Preempted by pod " + dns.UID + " on node n1"}, c.Reports("Preempted")); diff != "" {
		t.Error(diff)
	}
	if got := c.Reports("FailedScheduling")[0]; got != "Pod 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable." {
		t.Errorf("got %q", got)
	}
	c.RunTo(t, c.Now()+10*time.Second)
	if dns.NodeName != "n1" {
		t.Errorf("dns is on %q", dns.NodeName)
	}
	if got := c.Placed("old"); got["n1"] != 1 {
		t.Errorf("old pods are spared: %v", got)
	}
	if got := c.Placed("young"); got[""] != 1 {
		t.Errorf("what came for the victim waits: %v", got)
	}
}

func TestADaemonTakesItsPlaceOnAFullNode(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	c.Deploy(t, controllers.Deployment, "web", 20, placing.App("web", 100)) // all that the node takes
	c.RunTo(t, time.Minute)
	c.Deploy(t, controllers.DaemonSet, "agent", 0, critical("agent", 100))
	c.RunTo(t, 2*time.Minute)
	if got := c.Placed("agent"); got["n1"] != 1 {
		t.Fatalf("agent: %v", got)
	}
	if got := c.Placed("web"); got["n1"] != 19 || got[""] != 1 {
		t.Errorf("web: %v", got)
	}
	if p := c.Pods("agent")[0]; p.Nominated != "" {
		t.Errorf("still nominated for %q", p.Nominated)
	}
}

func TestPreemptionSparesWhatABudgetGuards(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	c.Deploy(t, controllers.Deployment, "guarded", 1, placing.App("guarded", 3500))
	c.RunTo(t, time.Minute)
	if err := c.API.CreateBudget(&kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: "guard"}, Selector: placing.App("guarded", 1).Labels}); err != nil {
		t.Fatal(err)
	}
	c.Node("n2", "a")
	c.Deploy(t, controllers.Deployment, "web", 1, placing.App("web", 3500))
	c.RunTo(t, 2*time.Minute)
	c.Deploy(t, controllers.Deployment, "dns", 1, critical("dns", 1000))
	c.RunTo(t, 3*time.Minute)
	if got := c.Placed("dns"); got["n2"] != 1 {
		t.Errorf("dns: %v", got)
	}
	if got := c.Placed("guarded"); got["n1"] != 1 {
		t.Errorf("guarded: %v", got)
	}
}

// Pods of many priorities come and go at random: no node ever takes more than it
// has, and in the end nobody important waits while a less important pod runs
// alone on a node that would do.
func TestPreemptionAtRandom(t *testing.T) {
	for seed := range 20 {
		c := placing.New(t, "1.36", false)
		s := c.Stream(fmt.Sprint("random", seed))
		for i := range 4 {
			c.Node(fmt.Sprint("n", i), string(rune('a'+i%2)))
		}
		c.API.WatchPods(func(change kube.Change, _, p *kube.Pod) {
			if change != kube.Modified || p.NodeName == "" {
				return
			}
			used := int64(0)
			for _, o := range c.API.PodsOn(p.NodeName) {
				if cpu, _ := o.Requests(); !o.Terminal() {
					used += cpu
				}
			}
			if used > 4000 {
				t.Errorf("seed %d at %s: %dm on %s", seed, c.Now(), used, p.NodeName)
			}
		})
		for i := range 6 {
			template := placing.App(fmt.Sprint("app-", i), 300*int64(1+s.N(6)))
			template.Priority = int32(s.N(3)) * 1000
			c.Deploy(t, controllers.Deployment, fmt.Sprint("app-", i), int(s.N(6)), template)
		}
		for step := range 30 {
			c.At(time.Duration(step)*3*time.Second, func() {
				if s.N(3) == 0 {
					n := c.API.Nodes()[s.N(4)]
					c.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = !n.Unschedulable })
				} else if err := c.Scale("shop", fmt.Sprint("app-", s.N(6)), int(s.N(7))); err != nil {
					t.Error(err)
				}
			})
		}
		c.RunTo(t, 20*time.Minute)
		for _, p := range c.API.Pods() {
			cond := p.Conditions.Get("PodScheduled")
			if p.NodeName == "" && (cond == nil || !strings.Contains(cond.Message, "nodes are available")) {
				t.Errorf("seed %d: %s waits and nobody knows why: %+v", seed, p.Name, cond)
			}
			if p.NodeName != "" || p.Template.Priority == 0 {
				continue
			}
			cpu, _ := p.Requests()
			for _, n := range c.API.Nodes() {
				less := int64(0)
				for _, o := range c.API.PodsOn(n.Name) {
					if o.Template.Priority >= p.Template.Priority {
						c, _ := o.Requests()
						less += c
					}
				}
				if !n.Unschedulable && less+cpu <= 4000 {
					t.Errorf("seed %d: %s waits, and could have a place on %s", seed, p.Name, n.Name)
				}
			}
		}
	}
}
