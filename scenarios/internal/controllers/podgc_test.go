package controllers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// TestOrphansAreCollected follows pods of a node that is deleted: the second
// look after the one that misses it collects them.
func TestOrphansAreCollected(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewPodGC(c.Env)
	n := c.node("node-a", "a")
	c.node("node-b", "b")
	c.pod(t, "web-0", "node-a", func(p *kube.Pod) { p.Generation, p.ObservedGeneration = 2, 2 })
	c.pod(t, "done", "node-a", func(p *kube.Pod) { p.Phase = "Succeeded" })
	held := c.pod(t, "held", "node-a", func(p *kube.Pod) { p.Finalizers = []string{"example.com/hold"} })
	c.pod(t, "other", "node-b")
	c.to(t, 30*time.Second)
	from := len(c.lines)
	c.API.DeleteNode(n)
	c.to(t, 5*time.Minute)
	between(t, "the end", c.first(from, "DELETED pods web-0"), 70*time.Second, 110*time.Second)
	got := c.wrote(from, "pods", "web-0")
	if len(got) != 3 || !strings.Contains(got[1].json, `"deletionGracePeriodSeconds":0`) || got[2].verb != "DELETED" || got[0].at != got[2].at {
		t.Fatalf("%+v: want Failed, no grace and DELETED at one moment", got)
	}
	for _, part := range []string{`"phase":"Failed"`, `"type":"DisruptionTarget","observedGeneration":2,"status":"True"`, `"reason":"DeletionByPodGC","message":"PodGC: node no longer exists"`} {
		if !strings.Contains(got[0].json, part) {
			t.Errorf("%s: want %s", got[0].json, part)
		}
	}
	if got := c.wrote(from, "pods", "done"); len(got) != 2 || strings.Contains(got[0].json, "phase") || got[1].verb != "DELETED" {
		t.Errorf("%+v: want what has ended deleted only", got)
	}
	if held.Gone() || held.Phase != "Failed" || !held.Terminating() || held.Grace != 0 {
		t.Errorf("%+v: want it Failed and held", held)
	}
	if c.API.Pod("shop", "other") == nil || len(c.said(from)) != 0 {
		t.Error("a pod of a node that is there is gone, or there are events")
	}
}

func TestANodeThatComesBackKeepsItsPods(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewPodGC(c.Env)
	n := c.node("node-a", "a")
	p := c.pod(t, "web-0", "node-a")
	c.API.DeleteNode(n)
	c.to(t, 39*time.Second)
	c.node("node-a", "a")
	c.to(t, 10*time.Minute)
	if p.Gone() {
		t.Error("the pod is collected")
	}
	// A pod can be bound to a node that has just gone.
	late := c.pod(t, "late", "node-z")
	c.to(t, 11*time.Minute+30*time.Second)
	if !late.Gone() {
		t.Error("a pod of a node that never was stays")
	}
}

func TestPodsThatNobodyEnds(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewPodGC(c.Env)
	n := c.node("node-a", "a")
	stuck := c.pod(t, "stuck", "node-a")
	stays := c.pod(t, "stays", "node-a")
	unbound := c.pod(t, "unbound", "", func(p *kube.Pod) { p.Phase, p.Finalizers = "Pending", []string{"example.com/hold"} })
	c.API.DeletePod(stuck, kube.OwnGrace)
	c.API.DeletePod(unbound, kube.OwnGrace)
	c.API.UpdateNode(n, func(n *kube.Node) {
		n.AddTaint(kube.Taint{Key: "node.kubernetes.io/out-of-service", Effect: "NoExecute"})
	})
	c.to(t, time.Minute)
	if stuck.Gone() || unbound.Phase != "Failed" || unbound.Gone() {
		t.Errorf("Ready and out of service: stuck gone %t, unbound %s", stuck.Gone(), unbound.Phase)
	}
	c.post(n, "Unknown")
	c.to(t, time.Minute+21*time.Second)
	if !stuck.Gone() || stays.Gone() {
		t.Errorf("out of service: gone %t and %t, want the one that was to go", stuck.Gone(), stays.Gone())
	}
	c.API.UpdatePod(unbound, func(p *kube.Pod) { p.SetFinalizer("example.com/hold", false) })
	if !unbound.Gone() {
		t.Error("nothing holds the unbound pod, and it is there")
	}
}
