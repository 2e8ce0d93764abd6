package kubelet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// TestJoin follows a machine from its launch until its CSI driver is there.
func TestJoin(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i := r.launch()
	r.wants(r.run(3*time.Minute), `
		38s added event ip-10-0-0-10 Normal Starting: Starting kubelet.
		38s added event ip-10-0-0-10 Warning InvalidDiskCapacity: invalid capacity 0 on image filesystem
		38s added event ip-10-0-0-10 Normal NodeHasSufficientMemory: Node ip-10-0-0-10.ec2.internal status is now: NodeHasSufficientMemory
		38s added event ip-10-0-0-10 Normal NodeHasNoDiskPressure: Node ip-10-0-0-10.ec2.internal status is now: NodeHasNoDiskPressure
		38s added event ip-10-0-0-10 Normal NodeHasSufficientPID: Node ip-10-0-0-10.ec2.internal status is now: NodeHasSufficientPID
		38.55s modified event ip-10-0-0-10 x2
		38.55s modified event ip-10-0-0-10 x2
		38.55s modified event ip-10-0-0-10 x2
		38.55s added event ip-10-0-0-10 Normal NodeAllocatableEnforced: Updated Node Allocatable limit across pods
		41.74s added node ip-10-0-0-10 uninitialized:NoSchedule not-ready:NoSchedule Ready=False/KubeletNotReady
		41.84s modified node ip-10-0-0-10
		48s modified node ip-10-0-0-10 Ready=False/KubeletNotReady
		48.74s added event ip-10-0-0-10 Normal Starting:
		53.74s modified node ip-10-0-0-10 Ready=True
		53.74s added event ip-10-0-0-10 Normal NodeReady: Node ip-10-0-0-10.ec2.internal status is now: NodeReady
		1m38.74s modified node ip-10-0-0-10`)

	n := r.API.Node(i.Name)
	for _, kind := range []string{model.MemoryPressure, model.DiskPressure, model.PIDPressure} {
		if before := n.Created.Sub(n.Conditions.Get(kind).Transition); before < 3*time.Second || before > 5*time.Second {
			t.Errorf("%s changed %v before the node was created, want about 3 s", kind, before)
		}
	}
	if n.Annotations.Get("csi.volume.kubernetes.io/nodeid") == "" || n.Labels.Get("topology.ebs.csi.aws.com/zone") != "us-east-1a" {
		t.Error("the CSI driver hasn't registered")
	}
	if n.Capacity.Get("ephemeral-storage") == "" || len(n.Images) == 0 {
		t.Error("the node's file system and images aren't known")
	}
	for _, ev := range r.readBack() {
		if ev.Resource != "events" || string(ev.Type) != "ADDED" {
			continue
		}
		e := decode(t, ev.Object)
		if e.InvolvedObject.UID != i.Name || e.InvolvedObject.APIVersion != "" {
			t.Errorf("event %s is about %+v: want the node's name as UID, and no API version", e.Reason, e.InvolvedObject)
		}
		if e.Message == "" && (e.ReportingComponent != "kube-proxy" || e.Action != "StartKubeProxy" || e.EventTime == "") {
			t.Errorf("event without a message: %s", ev.Object)
		}
	}
}

// TestJoinSaysWhatIsMissing reads the messages of a node that isn't ready yet.
func TestJoinSaysWhatIsMissing(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i := r.launch()
	r.run(42 * time.Second)
	cni := "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
	want := "[container runtime status check may not have completed yet, " + cni +
		", CSINode is not yet initialized, missing node capacity for resources: ephemeral-storage]"
	if got := r.API.Node(i.Name).Conditions.Get("Ready").Message; got != want {
		t.Errorf("at first: %s", got)
	}
	r.run(8 * time.Second)
	if got := r.API.Node(i.Name).Conditions.Get("Ready").Message; got != cni {
		t.Errorf("ten seconds after the start of the kubelet: %s", got)
	}
}

// TestNeverJoins has machines that don't make it.
func TestNeverJoins(t *testing.T) {
	for _, c := range []struct {
		name  string
		ail   func(*cloud.Ailments)
		node  bool
		lease bool
	}{
		{"user data", func(a *cloud.Ailments) { a.UserDataFail = true }, false, false},
		{"network plugin", func(a *cloud.Ailments) { a.CNIBroken = true }, true, true},
		{"kubelet", func(a *cloud.Ailments) { a.NeverPosts = true }, true, false},
	} {
		r := newKubeletRig(t, rigOptions{})
		i := r.launch()
		r.Cloud.Ail(i, c.ail)
		r.run(20 * time.Minute)
		n := r.API.Node(i.Name)
		if (n != nil) != c.node {
			t.Fatalf("%s: node %v", c.name, n)
		}
		if at, ok := r.API.RenewedBy(i.Name, &kube.LeaseRef{}); ok != c.lease || ok && r.API.Now().Sub(at) >= 10*time.Second {
			t.Errorf("%s: lease %v of %v at %v", c.name, ok, at.Time(), r.API.Now().Time())
		}
		if n == nil {
			continue
		}
		if n.Ready() {
			t.Errorf("%s: the node is ready", c.name)
		}
		if c.lease {
			if age := r.API.Now().Sub(n.Conditions.Get("Ready").Heartbeat); age > 5*time.Minute {
				t.Errorf("%s: the last post is %v old", c.name, age)
			}
		}
	}
}

// TestHealedNetworkPlugin gets ready once the plugin is up after all.
func TestHealedNetworkPlugin(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i := r.launch()
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.CNIBroken = true })
	r.run(10 * time.Minute)
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.CNIBroken = false })
	r.run(time.Minute)
	if !r.API.Node(i.Name).Ready() {
		t.Error("the node isn't ready")
	}
}

// TestAtRest has a node of yesterday: ready, posting every five minutes, and
// nothing else.
func TestAtRest(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	if !n.Ready() || r.API.Now().Sub(n.Created) != 24*time.Hour || len(n.Taints) != 0 {
		t.Errorf("the node is %+v", n)
	}
	age := r.API.Now().Sub(n.Conditions.Get("Ready").Heartbeat)
	if age < 0 || age > 5*time.Minute+10*time.Second {
		t.Errorf("the last post is %v old", age)
	}
	if at := r.API.Now().Sub(n.Conditions.Get("Ready").Transition); at < 23*time.Hour {
		t.Errorf("the node has been ready for %v", at)
	}
	got := r.run(time.Hour)
	if len(got) != 12 {
		t.Errorf("%d lines in an hour, want 12 posts:\n%v", len(got), got)
	}
	if lease, ok := r.API.RenewedBy(n.Name, &kube.LeaseRef{}); !ok || r.API.Now().Sub(lease) >= 10*time.Second {
		t.Errorf("lease %v: %v", ok, lease.Time())
	}
	r.readBack()
}

// TestPhaseOfPosts has nodes of one age post at different moments.
func TestPhaseOfPosts(t *testing.T) {
	r := newKubeletRig(t, rigOptions{jitter: 100})
	at := map[time.Duration]int{}
	for range 200 {
		_, n := r.seed()
		at[r.API.Now().Sub(n.Conditions.Get("Ready").Heartbeat)/time.Minute]++
	}
	for minute := range time.Duration(5) {
		if at[minute] < 20 {
			t.Errorf("%d of 200 nodes posted %d minutes ago: %v", at[minute], minute, at)
		}
	}
}

// TestCordon is told within ten seconds, and so is the end of it.
func TestCordon(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	r.API.UpdateNode(n, func(n *nodeType) { n.Unschedulable = true })
	got := r.run(10 * time.Second)
	r.wants(got[len(got)-1:], `5s added event ip-10-0-0-10 Normal NodeNotSchedulable: Node ip-10-0-0-10.ec2.internal status is now: NodeNotSchedulable`)
	r.API.UpdateNode(n, func(n *nodeType) { n.Unschedulable = false })
	got = r.run(10 * time.Second)
	r.wants(got[len(got)-1:], `15s added event ip-10-0-0-10 Normal NodeSchedulable: Node ip-10-0-0-10.ec2.internal status is now: NodeSchedulable`)
}

// TestReimage has a machine boot another image once its Node is deleted: the
// same name, another UID, another version.
func TestReimage(t *testing.T) {
	r := newKubeletRig(t, rigOptions{provider: model.AKS, os: model.Ubuntu, version: "v1.33.5"})
	r.group.Template.InstanceType = "Standard_D2s_v5"
	i, old := r.seed()
	r.API.DeleteNode(old)
	next := i.Template
	next.Version = "v1.34.1"
	r.Cloud.Restart(i, next)
	r.run(10 * time.Minute)
	n := r.API.Node(i.Name)
	if n == nil || n.UID == old.UID || !n.Ready() || n.Info.KubeletVersion != "v1.34.1" {
		t.Fatalf("the node is %+v", n)
	}
	if n.ProviderID != old.ProviderID || n.Info.BootID == old.Info.BootID {
		t.Errorf("identity %s, boot %s", n.ProviderID, n.Info.BootID)
	}
	r.readBack()
}

// TestExtraConditions stand in front of the kubelet's.
func TestExtraConditions(t *testing.T) {
	r := newKubeletRig(t, rigOptions{provider: model.GKE, profile: kubelet.Real})
	r.group.Template.InstanceType = "e2-standard-2"
	_, n := r.seed()
	i := r.launch()
	r.run(5 * time.Minute)
	for _, n := range []*nodeType{n, r.API.Node(i.Name)} {
		if first, last := n.Conditions[0].Type, n.Conditions[len(n.Conditions)-1].Type; first != "KernelDeadlock" || last != "Ready" {
			t.Errorf("conditions of %s from %s to %s", n.Name, first, last)
		}
	}
}

// TestJoinWithHelp has a cloud controller manager and Karpenter add what they
// know: then the new node looks like one that has been there for long.
func TestJoinWithHelp(t *testing.T) {
	r := newKubeletRig(t, rigOptions{provider: model.Karpenter})
	_, old := r.seed()
	i := r.launch()
	r.run(45 * time.Second)
	n := r.API.Node(i.Name)
	if !n.HasTaint("karpenter.sh/unregistered", "NoExecute") || len(n.Finalizers) != 0 || n.Labels.Get("topology.kubernetes.io/zone") != "" {
		t.Errorf("a node that has just registered: %+v", n)
	}
	r.API.UpdateNode(n, func(n *nodeType) {
		r.k.Initialize(i, n)
	})
	// Karpenter adds its own to a node that has joined.
	shape := r.cfg.Node(7, i)
	r.API.UpdateNode(n, func(n *nodeType) {
		for _, l := range shape.PoolLabels {
			n.Labels = n.Labels.With(l.Key, l.Value)
		}
		for _, a := range shape.PoolAnnotations {
			n.Annotations = n.Annotations.With(a.Key, a.Value)
		}
		for _, f := range shape.Finalizers {
			n.SetFinalizer(f, true)
		}
	})
	r.run(5 * time.Minute)
	if !slices.Equal(n.Finalizers, old.Finalizers) || len(n.Addresses) != len(old.Addresses) {
		t.Errorf("finalizers %v, addresses %v", n.Finalizers, n.Addresses)
	}
	for name, both := range map[string][2]kube.Pairs{"labels": {n.Labels, old.Labels}, "annotations": {n.Annotations, old.Annotations}} {
		if !slices.EqualFunc(both[0], both[1], func(a, b kube.Pair) bool { return a.Key == b.Key }) {
			t.Errorf("%s:\n got %v\nwant %v", name, both[0], both[1])
		}
	}
}
