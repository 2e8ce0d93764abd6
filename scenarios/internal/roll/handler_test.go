package roll_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
)

// spotCluster has four nodes of spot instances whose pods need three.
func spotCluster(t *testing.T, provider model.Provider, kind roll.HandlerKind, cfg roll.HandlerConfig) *cluster {
	t.Helper()
	c := newCluster(t, spec{
		provider: provider, nodes: 3, zones: 3, pods: 48, seed: 3, spot: true, detached: provider == model.Karpenter,
	})
	cfg.Karpenter = c.karpenter
	if err := roll.NewInterruptionHandler(c.Env, kind, cfg); err != nil {
		t.Fatal(err)
	}
	return c
}

const noticeAt = time.Minute

// interrupt gives an instance its two minutes' notice.
func (c *cluster) interrupt(i *cloud.Instance) {
	c.At(noticeAt, func() { c.Cloud.Interrupt(i, 2*time.Minute) })
}

// first returns when something was first done to a node.
func (c *cluster) first(what, node string) time.Duration {
	for _, m := range c.moved(what) {
		if m.name == node {
			return m.at
		}
	}
	return -1
}

// settled fails a test where the cluster isn't whole in the end.
func (c *cluster) settled() {
	c.Helper()
	if n := len(c.API.Nodes()); n != 3 {
		c.Errorf("%d nodes in the end\n%s", n, c.brief())
	}
	for _, p := range c.API.Pods() {
		if !p.Ready() {
			c.Errorf("pod %s on %q isn't ready in the end", p.Name, p.NodeName)
		}
	}
}

// TestNoHandler is a machine that is taken with whatever runs on it.
func TestNoHandler(t *testing.T) {
	c := spotCluster(t, model.EKS, roll.NoHandler, roll.HandlerConfig{})
	c.interrupt(c.group.Instances()[1])
	c.run(20 * time.Minute)
	if n := len(c.moved("cordoned")) + len(c.moved("evicted")); n != 0 {
		t.Errorf("%d cordons and evictions", n)
	}
	c.settled()
}

// TestNTH cordons and drains within seconds of the notice, and says so where it
// was told to.
func TestNTH(t *testing.T) {
	c := spotCluster(t, model.EKS, roll.NodeTerminationHandler, roll.HandlerConfig{})
	lost := c.group.Instances()[1]
	c.interrupt(lost)
	c.run(20 * time.Minute)
	if at := c.first("cordoned", lost.Name); at < noticeAt+time.Second || at > noticeAt+5*time.Second {
		t.Errorf("cordoned at %v\n%s", at, c.brief())
	}
	if at := c.first("evicted", lost.Name); at != c.first("cordoned", lost.Name) {
		t.Errorf("evicted at %v", at)
	}
	if n := len(c.reported("SpotInterruption")) + len(c.moved("excluded aws-node-termination-handler")); n != 0 {
		t.Error("it said so, though that is off")
	}
	c.settled()

	c = spotCluster(t, model.EKS, roll.NodeTerminationHandler, roll.HandlerConfig{NTH: roll.NTHConfig{Taint: true, Label: true, Events: true}})
	lost = c.group.Instances()[1]
	c.interrupt(lost)
	c.run(2 * time.Minute)
	n := c.API.Node(lost.Name)
	value := ""
	for _, taint := range n.Taints {
		if taint.Key == "aws-node-termination-handler/spot-itn" && taint.Effect == "NoSchedule" && taint.Added == 0 {
			value = taint.Value
		}
	}
	if !regexp.MustCompile(`^spot-itn-[0-9a-f]{54}$`).MatchString(value) {
		t.Errorf("the taint's value is %q", value)
	}
	if n.Labels.Get("node.kubernetes.io/exclude-from-external-load-balancers") != "aws-node-termination-handler" {
		t.Error("the node isn't labelled")
	}
	said := c.reported("SpotInterruption")
	if len(said) != 1 || said[0].message != "Spot ITN received. Instance will be interrupted at 2026-11-20T22:03:00Z \n" {
		t.Errorf("%+v", said)
	}
	if len(c.reported("PodEviction")) == 0 || len(c.reported("CordonAndDrain")) != 1 {
		t.Errorf("%d evictions and %d drains were reported", len(c.reported("PodEviction")), len(c.reported("CordonAndDrain")))
	}
}

// TestMNG waits for a replacement where it was recommended in time, and drains
// at once where it wasn't.
func TestMNG(t *testing.T) {
	c := spotCluster(t, model.EKS, roll.ManagedNodeGroup, roll.HandlerConfig{})
	lost := c.group.Instances()[1]
	c.At(noticeAt, func() { c.Cloud.Recommend(lost) })
	c.run(30 * time.Minute)
	ready, cordoned := c.moved("ready"), c.moved("cordoned")
	if len(ready) != 1 || len(cordoned) != 1 || cordoned[0].name != lost.Name || cordoned[0].at < ready[0].at {
		t.Errorf("ready %v, cordoned %v", ready, cordoned)
	}
	if c.group.Desired != 3 || len(c.group.Instances()) != 3 {
		t.Errorf("the group wants %d and has %d", c.group.Desired, len(c.group.Instances()))
	}
	c.settled()

	c = spotCluster(t, model.EKS, roll.ManagedNodeGroup, roll.HandlerConfig{})
	lost = c.group.Instances()[1]
	c.At(noticeAt-10*time.Second, func() { c.Cloud.Recommend(lost) })
	c.interrupt(lost)
	c.run(30 * time.Minute)
	if at := c.first("cordoned", lost.Name); at < noticeAt || at > noticeAt+5*time.Second {
		t.Errorf("cordoned at %v", at)
	}
	if c.group.Desired != 3 || len(c.group.Instances()) != 3 || len(c.moved("node-added")) != 1 {
		t.Errorf("the group wants %d and has %d, %d joined", c.group.Desired, len(c.group.Instances()), len(c.moved("node-added")))
	}
	c.settled()
	if n := len(c.events) - len(c.reported("Scheduled")); n == 0 {
		t.Error("no event at all")
	}
}

// TestKarpenterInterruption follows a notice from the queue to the replacement
// that the pods without a place are given.
func TestKarpenterInterruption(t *testing.T) {
	c := spotCluster(t, model.Karpenter, roll.KarpenterQueue, roll.HandlerConfig{})
	lost := c.group.Instances()[1]
	c.At(noticeAt-20*time.Second, func() { c.Cloud.Recommend(lost) })
	c.interrupt(lost)
	c.run(20 * time.Minute)
	if n := len(c.moved("cordoned")); n != 0 {
		t.Errorf("%d nodes were cordoned", n)
	}
	order := []string{"SpotRebalanceRecommendation", "SpotInterrupted", "TerminatingOnInterruption", "FailedDraining", "InstanceTerminating"}
	last := time.Duration(0)
	for _, reason := range order {
		said := false
		for _, e := range c.reported(reason) {
			if e.kind == "Node" && e.name == lost.Name {
				said = true
				if e.at < last {
					t.Errorf("%s at %v, want it behind %v", reason, e.at, last)
				}
				last = e.at
				break
			}
		}
		if !said {
			t.Errorf("no %s on the node", reason)
		}
	}
	if at := c.first("tainted karpenter.sh/disrupted:NoSchedule", lost.Name); at < noticeAt || at > noticeAt+6*time.Second {
		t.Errorf("tainted at %v", at)
	}
	nominated := c.reported("Nominated")
	if len(nominated) == 0 || len(nominated) > 10 || !strings.HasPrefix(nominated[0].message, "Pod should schedule on: nodeclaim/workers-") {
		t.Errorf("%d pods were nominated: %+v", len(nominated), nominated)
	}
	gone := c.first("node-deleted", lost.Name)
	if gone < noticeAt+20*time.Second || gone > noticeAt+4*time.Minute {
		t.Errorf("the node was gone at %v", gone)
	}
	if n := len(c.claims); n != 3 {
		t.Errorf("%d NodeClaims in the end", n)
	}
	c.settled()
}

// TestUnknownHandler refuses what nobody knows.
func TestUnknownHandler(t *testing.T) {
	c := newCluster(t, spec{nodes: 1, seed: 1})
	for _, kind := range []roll.HandlerKind{"kured", roll.KarpenterQueue} {
		if err := roll.NewInterruptionHandler(c.Env, kind, roll.HandlerConfig{}); err == nil {
			t.Errorf("%s: no error", kind)
		}
	}
}

// TestDeletedNode deletes a node of Karpenter's by hand: the finalizer holds it
// until its machine is gone.
func TestDeletedNode(t *testing.T) {
	c := spotCluster(t, model.Karpenter, roll.KarpenterQueue, roll.HandlerConfig{})
	lost := c.group.Instances()[0]
	c.At(noticeAt, func() { c.API.DeleteNode(c.API.Node(lost.Name)) })
	c.run(15 * time.Minute)
	if lost.State != cloud.Terminated || c.API.Node(lost.Name) != nil {
		t.Errorf("the instance is %v", lost.State)
	}
	if deleting, gone := c.first("node-deleting", lost.Name), c.first("node-deleted", lost.Name); deleting != noticeAt || gone < noticeAt+10*time.Second {
		t.Errorf("deleted at %v, gone at %v", deleting, gone)
	}
	c.settled()
}
