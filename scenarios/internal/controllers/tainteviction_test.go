package controllers_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

func (c *control) taint(n *kube.Node, key string) {
	c.API.UpdateNode(n, func(n *kube.Node) {
		n.AddTaint(kube.Taint{Key: key, Effect: "NoExecute", Added: c.API.Now().Second()})
	})
}

func (c *control) untaint(n *kube.Node, key string) {
	c.API.UpdateNode(n, func(n *kube.Node) { n.RemoveTaint(key, "NoExecute") })
}

func forSeconds(key string, seconds int64) kube.Toleration {
	return kube.Toleration{Key: key, Operator: "Exists", Effect: "NoExecute", Seconds: seconds}
}

// TestTolerationsRunOut has pods of every tolerance on a node that gets a taint.
func TestTolerationsRunOut(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewTaintEviction(c.Env)
	n := c.node("node-a", "a")
	none := c.pod(t, "none", "node-a")
	brief := c.pod(t, "brief", "node-a", tolerate(forSeconds("x", 60)))
	ever := c.pod(t, "ever", "node-a", tolerate(kube.Toleration{Operator: "Exists", Seconds: -1}, forSeconds("x", 1)))
	nought := c.pod(t, "nought", "node-a", tolerate(forSeconds("x", 0)))
	c.to(t, time.Second)
	from := len(c.lines)
	c.taint(n, "x")
	c.to(t, 10*time.Second)
	if !none.Terminating() || !nought.Terminating() || brief.Terminating() || ever.Terminating() {
		t.Errorf("after nine seconds: none %t, nought %t, brief %t, ever %t", none.Terminating(), nought.Terminating(), brief.Terminating(), ever.Terminating())
	}
	// A second taint, which all tolerate or nobody does, comes on top.
	c.taint(n, "y")
	c.to(t, 11*time.Second)
	if !brief.Terminating() || ever.Terminating() {
		t.Errorf("the second taint: brief %t, ever %t", brief.Terminating(), ever.Terminating())
	}
	c.to(t, time.Hour)
	if ever.Terminating() {
		t.Error("what tolerates all for ever is deleted")
	}
	same(t, "events", c.said(from), []string{
		"Normal TaintManagerEviction none: Marking for deletion Pod shop/none [taint-eviction-controller]",
		"Normal TaintManagerEviction nought: Marking for deletion Pod shop/nought [taint-eviction-controller]",
		"Normal TaintManagerEviction brief: Cancelling deletion of Pod shop/brief [taint-eviction-controller]",
		"Normal TaintManagerEviction brief: Marking for deletion Pod shop/brief [taint-eviction-controller]",
	})
	target := none.Conditions.Get("DisruptionTarget")
	if target.Reason != "DeletionByTaintManager" || target.Message != "Taint manager: deleting due to NoExecute taint" || none.Grace != 30 {
		t.Errorf("%+v, grace %d", target, none.Grace)
	}
	if c.first(from, `"involvedObject":{"kind":"Pod","namespace":"shop","name":"none","apiVersion":"v1"}`) < 0 {
		t.Error("want events that name no UID and no version")
	}
}

func TestATolerationCountsFromItsFirstTaint(t *testing.T) {
	c := newControl(t, "1.28")
	controllers.NewTaintEviction(c.Env)
	n := c.node("node-a", "a")
	p := c.pod(t, "web-0", "node-a", tolerate(forSeconds("not-ready", 300), forSeconds("unreachable", 300)))
	c.to(t, 10*time.Second)
	c.taint(n, "not-ready")
	c.to(t, 100*time.Second)
	c.taint(n, "unreachable")
	c.untaint(n, "not-ready")
	c.to(t, 309*time.Second)
	if p.Terminating() {
		t.Fatal("deleted before the five minutes were over")
	}
	c.to(t, 320*time.Second)
	between(t, "the deletion", c.first(0, "deletionTimestamp"), 310*time.Second, 310*time.Second+200*time.Millisecond)
	same(t, "events", c.said(0), []string{"Normal TaintManagerEviction web-0: Marking for deletion Pod shop/web-0 [taint-controller]"})
}

func TestADeletionIsCalledOff(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewTaintEviction(c.Env)
	n := c.node("node-a", "a")
	p := c.pod(t, "web-0", "node-a", tolerate(forSeconds("x", 60)))
	q := c.pod(t, "web-1", "node-a", tolerate(forSeconds("x", 60)))
	c.taint(n, "x")
	c.to(t, 30*time.Second)
	c.API.DeletePod(q, 0) // by somebody else, which shows as well
	c.to(t, 40*time.Second)
	c.untaint(n, "x")
	c.to(t, time.Hour)
	if p.Terminating() {
		t.Error("the pod is deleted")
	}
	same(t, "events", c.said(0), []string{
		"Normal TaintManagerEviction web-1: Cancelling deletion of Pod shop/web-1 [taint-eviction-controller]",
		"Normal TaintManagerEviction web-0: Cancelling deletion of Pod shop/web-0 [taint-eviction-controller]",
	})
	// One that is bound while the taint is there has no grace to speak of.
	c.taint(n, "x")
	late := c.pod(t, "late", "")
	c.API.UpdatePod(late, func(p *kube.Pod) { p.NodeName = "node-a" })
	c.to(t, time.Hour+time.Second)
	if !late.Terminating() {
		t.Error("a pod that is bound to a tainted node stays")
	}
}

// Tolerations that come later count from then on.
func TestTolerationsChange(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewTaintEviction(c.Env)
	n := c.node("node-a", "a")
	spared := c.pod(t, "spared", "node-a", tolerate(forSeconds("x", 60)))
	dropped := c.pod(t, "dropped", "node-a", tolerate(forSeconds("x", 60)))
	c.taint(n, "x")
	c.to(t, 10*time.Second)
	c.API.PutPod("shop", "spared", tolerate(kube.Toleration{Key: "x", Operator: "Exists", Seconds: -1}))
	c.API.PutPod("shop", "dropped", tolerate())
	c.to(t, 20*time.Second)
	if spared.Terminating() || !dropped.Terminating() {
		t.Errorf("spared %t, dropped %t: want the second alone to go at once", spared.Terminating(), dropped.Terminating())
	}
	c.to(t, time.Hour)
	if spared.Terminating() {
		t.Error("what tolerates the taint for ever is deleted")
	}
}
