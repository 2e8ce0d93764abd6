package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

const (
	unreachableNoExecute = `"key":"node.kubernetes.io/unreachable","effect":"NoExecute"`
	notReadyNoExecute    = `"key":"node.kubernetes.io/not-ready","effect":"NoExecute"`
)

// TestASilentNode follows a node whose kubelet falls silent, among others that
// don't: what is written, in which order and when.
func TestASilentNode(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewNodeLifecycle(c.Env)
	n := c.node("node-a", "a")
	for i := range 5 {
		c.node(fmt.Sprint("other-", i), "a")
	}
	p := c.pod(t, "web-0", "node-a")
	version := p.Version()
	c.to(t, 20*time.Second)
	from := len(c.lines)
	if from != 7 {
		t.Errorf("%d writes while all is well: want none but the seeds", from-7)
	}
	c.API.StopLease("node-a") // renewed at -3s, 7s and 17s
	c.to(t, 2*time.Minute)
	var order []string
	for _, l := range c.lines[from:] {
		what := l.verb + " " + l.resource
		switch {
		case strings.Contains(l.json, `"reason":"NodeNotReady"`):
			what += " NodeNotReady " + strings.Split(strings.Split(l.json, `"name":"`)[1], `"`)[0]
		case strings.Contains(l.json, "taints"):
			what += " taint"
		}
		order = append(order, what)
	}
	same(t, "writes", order, []string{
		"MODIFIED nodes", "ADDED events NodeNotReady node-a", "MODIFIED pods", "ADDED events NodeNotReady web-0",
		"MODIFIED nodes taint", "MODIFIED nodes taint", // which of the two is first is random
	})
	// Fifty seconds after the look that saw the last renewal.
	between(t, "Unknown", c.first(from, "NodeStatusUnknown"), 67*time.Second, 77*time.Second)
	first := c.lines[from]
	if strings.Count(first.json, `"reason":"NodeStatusUnknown","message":"Kubelet stopped posting node status."`) != 4 ||
		strings.Count(first.json, `"lastHeartbeatTime":"2026-11-20T21:00:00Z"`) != 4 {
		t.Errorf("%s: want four conditions, their heartbeats as they were", first.json)
	}
	for _, cond := range n.Conditions[1:] {
		if cond.Transition != n.Conditions[0].Transition {
			t.Errorf("transitions at %v and %v: want one", cond.Transition, n.Conditions[0].Transition)
		}
	}
	same(t, "events", c.said(from), []string{
		"Normal NodeNotReady node-a: Node node-a status is now: NodeNotReady [node-controller]",
		"Warning NodeNotReady web-0: Node is not ready [node-controller]",
	})
	if at := c.first(from, `"uid":"`+p.UID, fmt.Sprintf(`"resourceVersion":"%d"`, version)); at < 0 {
		t.Error("the pod's event doesn't name the version that the controller had seen")
	}
	if len(n.Taints) != 2 || n.Taints[0].Added == 0 || n.Taints[1].Added == 0 {
		t.Errorf("taints %+v: want two with their times", n.Taints)
	}

	// It comes back.
	from = len(c.lines)
	c.API.StartLease("node-a", c.API.Now())
	c.post(n, "True")
	c.to(t, 2*time.Minute+6*time.Second)
	if len(n.Taints) != 0 || len(c.said(from)) != 0 {
		t.Errorf("taints %+v, events %v: want none of either", n.Taints, c.said(from))
	}
	between(t, "NoSchedule off", c.first(from, "MODIFIED nodes node-a", `{"spec":{"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute"`), 2*time.Minute, 2*time.Minute+300*time.Millisecond)
}

func TestANodeThatNeverPosts(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewNodeLifecycle(c.Env)
	c.node("other", "a")
	c.to(t, 10*time.Second)
	n := &kube.Node{Meta: kube.Meta{Name: "mute"}}
	if err := c.API.CreateNode(n); err != nil {
		t.Fatal(err)
	}
	from := len(c.lines)
	c.to(t, 2*time.Minute)
	between(t, "Unknown", c.first(from, "NodeStatusNeverUpdated"), 70*time.Second, 75*time.Second+time.Millisecond)
	var kinds []string
	for _, cond := range n.Conditions {
		kinds = append(kinds, cond.Type)
		if cond.Heartbeat != n.Created.Second() || cond.Message != "Kubelet never posted node status." {
			t.Errorf("%+v", cond)
		}
	}
	same(t, "conditions", kinds, []string{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"})
	same(t, "events", c.said(from), []string{"Normal RegisteredNode mute: Node mute event: Registered Node mute in Controller [node-controller]"})
}

func TestNodesComeAndGo(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewNodeLifecycle(c.Env)
	c.node("other", "a")
	c.to(t, time.Second)
	add := func(name string) *kube.Node {
		n := &kube.Node{Meta: kube.Meta{Name: name, Labels: kube.PairsOf(kube.Pair{Key: "kubernetes.io/os", Value: "linux"}, kube.Pair{Key: "kubernetes.io/arch", Value: "arm64"})}, Conditions: conditions(c.API.Now(), "True")}
		if err := c.API.CreateNode(n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	brief := add("brief")
	c.API.DeleteNode(brief) // before anybody has looked
	n := add("node-b")
	c.to(t, 7*time.Second)
	if n.Labels.Get("beta.kubernetes.io/arch") != "arm64" || n.Labels.Get("beta.kubernetes.io/os") != "linux" {
		t.Errorf("labels %v: want those of old as well", n.Labels)
	}
	c.API.DeleteNode(n)
	again := add("node-b") // reimaged: the same name before the next look
	c.to(t, 13*time.Second)
	c.API.DeleteNode(again)
	c.to(t, 20*time.Second)
	same(t, "events", c.said(0), []string{
		"Normal RegisteredNode node-b: Node node-b event: Registered Node node-b in Controller [node-controller]",
		"Normal RemovingNode node-b: Node node-b event: Removing Node node-b from Controller [node-controller]",
	})
	if gone, removed := c.first(0, "DELETED nodes brief"), c.first(0, "RemovingNode"); gone < 0 || removed < 13*time.Second || removed > 18*time.Second+time.Millisecond {
		t.Errorf("RemovingNode at %s: want within five seconds of 13s", removed)
	}
}

// TestConditionsBecomeTaints has the controller's own taints follow conditions
// and cordon, and leaves those of others alone.
func TestConditionsBecomeTaints(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewNodeLifecycle(c.Env)
	n := c.node("node-a", "a")
	c.to(t, time.Second)
	from := len(c.lines)
	c.API.UpdateNode(n, func(n *kube.Node) {
		n.Unschedulable = true
		n.AddTaint(kube.Taint{Key: "team", Value: "x", Effect: "NoSchedule"})
		n.Conditions = n.Conditions.Set(kube.Condition{Type: "Ready", Status: "False"})
		n.Conditions = n.Conditions.Set(kube.Condition{Type: "DiskPressure", Status: "True"})
	})
	c.to(t, 2*time.Second)
	same(t, "taints", keys(n), []string{
		"team:NoSchedule", "node.kubernetes.io/disk-pressure:NoSchedule", "node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/unschedulable:NoSchedule",
	})
	if got := c.wrote(from, "nodes", "node-a"); len(got) != 2 || got[1].at < time.Second+20*time.Millisecond {
		t.Errorf("%d writes: want the change, and one of all taints after it", len(got))
	}
	from = len(c.lines)
	c.API.UpdateNode(n, func(n *kube.Node) {
		n.Unschedulable = false
		n.Conditions = n.Conditions.Set(kube.Condition{Type: "Ready", Status: "Unknown"})
	})
	c.to(t, 2500*time.Millisecond)
	if got := c.wrote(from, "nodes", "node-a"); len(got) != 3 {
		t.Errorf("%d writes: want the change, one that adds and one that removes", len(got))
	}
	same(t, "taints", keys(n), []string{"team:NoSchedule", "node.kubernetes.io/disk-pressure:NoSchedule", "node.kubernetes.io/unreachable:NoSchedule"})
}

func keys(n *kube.Node) []string {
	var out []string
	for _, t := range n.Taints {
		out = append(out, t.Key+":"+t.Effect)
	}
	return out
}

// lose silences some of the nodes of a zone.
func (c *control) lose(nodes ...*kube.Node) {
	for _, n := range nodes {
		c.API.StopLease(n.Name)
	}
}

func (c *control) zone(name string, size int) []*kube.Node {
	var nodes []*kube.Node
	for i := range size {
		nodes = append(nodes, c.node(fmt.Sprintf("%s-%02d", name, i), name))
	}
	return nodes
}

// tainted are the moments at which nodes got a NoExecute taint, and the nodes.
func (c *control) tainted(from int, taint string) (at []time.Duration, names []string) {
	for _, l := range c.lines[from:] {
		if l.resource == "nodes" && strings.Contains(l.json, taint) && !slices.Contains(names, l.name) {
			at, names = append(at, l.at), append(names, l.name)
		}
	}
	return at, names
}

// TestALostZoneIsTaintedNodeByNode: a zone that is lost as a whole while others
// are well gets one taint each ten seconds.
func TestALostZoneIsTaintedNodeByNode(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewNodeLifecycle(c.Env)
	lost := c.zone("a", 6)
	c.zone("b", 6)
	c.to(t, 20*time.Second)
	c.lose(lost...)
	c.to(t, 4*time.Minute)
	at, names := c.tainted(0, unreachableNoExecute)
	if len(at) != 6 {
		t.Fatalf("%d nodes are tainted: want all six", len(at))
	}
	between(t, "the first taint", at[0]-c.first(0, "NodeStatusUnknown"), 0, 100*time.Millisecond)
	for i := 1; i < len(at); i++ {
		between(t, "the next taint", at[i]-at[i-1], 10*time.Second, 10*time.Second+100*time.Millisecond)
	}
	if slices.IsSorted(names) {
		t.Errorf("%v: want no order, as of a map", names)
	}
}

// TestAPartlyLostZone: where most of a zone is lost, a small one is left in
// peace, and in a large one a node is tainted each hundred seconds.
func TestAPartlyLostZone(t *testing.T) {
	for _, one := range []struct{ size, lost, tainted int }{
		{10, 2, 2},  // normal
		{10, 5, 5},  // under 55 %
		{10, 6, 1},  // partial and small: one before anybody has counted
		{60, 40, 3}, // partial and large
	} {
		c := newControl(t, "1.34")
		controllers.NewNodeLifecycle(c.Env)
		nodes := c.zone("a", one.size)
		c.zone("b", 3)
		c.to(t, 20*time.Second)
		c.lose(nodes[:one.lost]...)
		c.to(t, 5*time.Minute)
		at, _ := c.tainted(0, unreachableNoExecute)
		if len(at) != one.tainted && !(one.lost == 6 && len(at) == 0) {
			t.Errorf("%d of %d lost: %d tainted at %v, want %d", one.lost, one.size, len(at), at, one.tainted)
		}
	}
}

// TestAllIsLost: where no node anywhere is Ready, the taints that drive pods off
// go, and nodes have their full grace again when some come back.
func TestAllIsLost(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewNodeLifecycle(c.Env)
	nodes := append(c.zone("a", 3), c.zone("b", 3)...)
	c.to(t, 20*time.Second)
	c.lose(nodes[:3]...)
	c.to(t, 2*time.Minute)
	if at, _ := c.tainted(0, unreachableNoExecute); len(at) != 3 {
		t.Fatalf("%d tainted: want the first zone", len(at))
	}
	c.lose(nodes[3:]...)
	c.to(t, 4*time.Minute)
	for _, n := range nodes {
		if n.Ready() || n.HasTaint("node.kubernetes.io/unreachable", "NoExecute") {
			t.Errorf("%s: ready %t, taints %v: want a lost node with no NoExecute taint", n.Name, n.Ready(), keys(n))
		}
	}
	from := len(c.lines)
	back := c.Now()
	c.API.StartLease("a-00", c.API.Now())
	c.post(nodes[0], "True")
	c.to(t, 6*time.Minute)
	at, _ := c.tainted(from, unreachableNoExecute)
	if len(at) != 5 || at[0] < back+10*time.Second {
		t.Errorf("tainted at %v: want the five lost ones, ten seconds behind %s at the earliest", at, back)
	}
}

func TestASilentNotReadyNodeSwapsItsTaint(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewNodeLifecycle(c.Env)
	n := c.node("node-a", "a")
	c.zone("b", 2)
	c.to(t, 20*time.Second)
	c.post(n, "False")
	c.to(t, 30*time.Second)
	if at, _ := c.tainted(0, notReadyNoExecute); len(at) != 1 || len(c.said(0)) != 0 {
		t.Errorf("not-ready at %v, events %v: want one, and none from the controller", at, c.said(0))
	}
	from := len(c.lines)
	c.lose(n)
	c.to(t, 2*time.Minute)
	between(t, "the swap", c.first(from, unreachableNoExecute), c.first(from, "NodeStatusUnknown"), c.first(from, "NodeStatusUnknown"))
	same(t, "taints", keys(n), []string{"node.kubernetes.io/unreachable:NoExecute", "node.kubernetes.io/unreachable:NoSchedule"})
}

// BenchmarkLook is one look at 15,000 nodes that are all well.
func BenchmarkLook(b *testing.B) {
	c := newControl(b, "1.34")
	controllers.NewNodeLifecycle(c.Env)
	for i := range 15000 {
		c.node(fmt.Sprint("node-", i), string(rune('a'+i%3)))
	}
	c.to(b, 10*time.Second)
	for b.Loop() {
		c.to(b, c.Now()+5*time.Second)
	}
}
