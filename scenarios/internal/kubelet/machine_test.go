package kubelet_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// TestReboot restarts a machine in place: the same node, another boot, and the
// containers once more.
func TestReboot(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	r.run(time.Second)
	r.Cloud.Restart(i, i.Template)
	r.wants(r.run(3*time.Minute), `
		46s added event ip-10-0-0-10 Normal Starting: Starting kubelet.
		46s added event ip-10-0-0-10 Warning InvalidDiskCapacity: invalid capacity 0 on image filesystem
		46s added event ip-10-0-0-10 Normal NodeHasSufficientMemory: Node ip-10-0-0-10.ec2.internal status is now: NodeHasSufficientMemory
		46s added event ip-10-0-0-10 Normal NodeHasNoDiskPressure: Node ip-10-0-0-10.ec2.internal status is now: NodeHasNoDiskPressure
		46s added event ip-10-0-0-10 Normal NodeHasSufficientPID: Node ip-10-0-0-10.ec2.internal status is now: NodeHasSufficientPID
		46.55s modified event ip-10-0-0-10 x2
		46.55s modified event ip-10-0-0-10 x2
		46.55s modified event ip-10-0-0-10 x2
		46.55s added event ip-10-0-0-10 Normal NodeAllocatableEnforced: Updated Node Allocatable limit across pods
		49.74s added event ip-10-0-0-10 Warning Rebooted: Node ip-10-0-0-10.ec2.internal has been rebooted, boot id: 266c191b-d2ab-430b-a13f-9497f85844ae
		49.74s modified node ip-10-0-0-10 Ready=False/KubeletNotReady
		49.74s added event ip-10-0-0-10 Normal NodeNotReady: Node ip-10-0-0-10.ec2.internal status is now: NodeNotReady
		49.77s modified pod web-1 PodReadyToStartContainers=False Ready=False/ContainersNotReady terminated/Unknown/255
		50.04s added event web-1 Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created.
		50.04s added event web-1 Warning NetworkNotReady: network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized
		51.54s modified event web-1 x2
		53.04s modified event web-1 x3
		54.54s modified event web-1 x4
		56s modified node ip-10-0-0-10 Ready=False/KubeletNotReady
		56.04s modified event web-1 x5
		56.74s added event ip-10-0-0-10 Normal Starting:
		57.54s modified event web-1 x6
		59.04s modified event web-1 x7
		1m0.54s modified event web-1 x8
		1m1.74s modified node ip-10-0-0-10 Ready=True
		1m1.74s added event ip-10-0-0-10 Normal NodeReady: Node ip-10-0-0-10.ec2.internal status is now: NodeReady
		1m2.64s added event web-1 Normal Pulled: Container image "registry.example/web:1" already present on machine
		1m2.94s added event web-1 Normal Created: Created container: web
		1m2.94s added event web-1 Normal Started: Started container web
		1m3.22s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.2 running/restarts=1
		1m7.22s modified pod web-1 PodReadyToStartContainers=True Ready=True running/restarts=1`)
	c := p.Containers[0]
	if c.Restarts != 1 || c.Last.ExitCode != 255 || c.Last.Reason != "Unknown" || c.Last.ContainerID == c.ContainerID {
		t.Errorf("container %+v", c)
	}
	r.readBack()
}

// TestGracefulShutdown ends the pods first, the critical ones last, and refuses
// new ones.
func TestGracefulShutdown(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.34.1"})
	i, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	vital := web()
	vital.Priority = 2_000_001_000
	r.runningPod("dns-1", n.Name, vital)
	r.run(time.Second)
	r.Cloud.Terminate(i, true)
	got := r.run(3 * time.Second)
	late := r.pod("web-2", n.Name, web())
	got = append(got, r.run(3*time.Minute)...)
	r.wants(got, `
		1.45s added event ip-10-0-0-10 Normal Shutdown: Shutdown manager detected shutdown event
		1.45s modified node ip-10-0-0-10 Ready=False/KubeletNotReady
		1.45s added event ip-10-0-0-10 Normal NodeNotReady: Node ip-10-0-0-10.ec2.internal status is now: NodeNotReady
		2s added event web-1 Normal Killing: Stopping container web
		4.03s added event web-2 Warning NodeShutdown: Pod was rejected as the node is shutting down.
		4.03s modified pod web-2 Failed (NodeShutdown)
		4.35s modified pod web-1 Failed (Terminated) PodReadyToStartContainers=False Ready=False/PodFailed DisruptionTarget=True terminated/Completed/0
		4.9s added event dns-1 Normal Killing: Stopping container web
		7.25s modified pod dns-1 Failed (Terminated) PodReadyToStartContainers=False Ready=False/PodFailed DisruptionTarget=True terminated/Completed/0`)
	if p.Message != "Pod was terminated in response to imminent node shutdown." || p.Conditions[len(p.Conditions)-1].Reason != "TerminationByKubelet" {
		t.Errorf("message %q, conditions %+v", p.Message, p.Conditions)
	}
	if late.Reason != "NodeShutdown" || late.Message != "Pod was rejected: Pod was rejected as the node is shutting down." {
		t.Errorf("the late pod: %s: %s", late.Reason, late.Message)
	}
	if i.State != cloud.Terminated {
		t.Errorf("the instance is %s: its grace wasn't needed", i.State)
	}
	if at, _ := r.API.RenewedBy(n.Name, &kube.LeaseRef{}); r.API.Now().Sub(at) < time.Minute {
		t.Error("the lease is still being renewed")
	}
	r.readBack()
}

// TestShutdownWithoutGrace falls silent within seconds, with a word to nobody.
func TestShutdownWithoutGrace(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i, n := r.seed()
	r.runningPod("web-1", n.Name, web())
	r.run(time.Second)
	r.Cloud.Terminate(i, true)
	r.wants(r.run(10*time.Minute), ``)
	at, _ := r.API.RenewedBy(n.Name, &kube.LeaseRef{})
	if silent := r.API.Now().Sub(at); silent < 9*time.Minute {
		t.Errorf("silent for %v", silent)
	}
}

// TestLeak evicts the pod that uses most beyond its request; the pressure lasts
// five minutes longer.
func TestLeak(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	leaky := web()
	of := &traits{}
	leaky.Workload = of
	r.runningPod("web-1", n.Name, leaky)
	r.runningPod("web-2", n.Name, leaky)
	r.run(time.Second)
	r.k.Leak(of, 512<<20)
	r.wants(r.run(30*time.Minute), `
		2m40s modified node ip-10-0-0-10 Ready=True
		7m1s added event ip-10-0-0-10 Warning EvictionThresholdMet: Attempting to reclaim memory
		7m1s added event web-1 Warning Evicted: The node was low on resource: memory. Threshold quantity: 100Mi, available: 3168Ki. Container web was using 3748656Ki, request is 128Mi, has larger consumption of memory.
		7m1.55s added event web-1 Normal Killing: Stopping container web
		7m1.9s modified pod web-1 Failed (Evicted) PodReadyToStartContainers=False Ready=False/PodFailed DisruptionTarget=True terminated/Completed/0
		7m6s modified node ip-10-0-0-10 MemoryPressure=True Ready=True
		7m6s added event ip-10-0-0-10 Normal NodeHasInsufficientMemory: Node ip-10-0-0-10.ec2.internal status is now: NodeHasInsufficientMemory
		12m6s modified node ip-10-0-0-10 Ready=True
		12m6s added event ip-10-0-0-10 Normal NodeHasSufficientMemory: Node ip-10-0-0-10.ec2.internal status is now: NodeHasSufficientMemory
		14m1s modified event ip-10-0-0-10 x2
		14m1s added event web-2 Warning Evicted: The node was low on resource: memory. Threshold quantity: 100Mi, available: 81808Ki. Container web was using 7418672Ki, request is 128Mi, has larger consumption of memory.
		14m1.55s added event web-2 Normal Killing: Stopping container web
		14m1.9s modified pod web-2 Failed (Evicted) PodReadyToStartContainers=False Ready=False/PodFailed DisruptionTarget=True terminated/Completed/0
		14m6s modified node ip-10-0-0-10 MemoryPressure=True Ready=True
		14m6s modified event ip-10-0-0-10 x2
		19m6s modified node ip-10-0-0-10 Ready=True
		19m6s modified event ip-10-0-0-10 x2
		24m6s modified node ip-10-0-0-10 Ready=True
		29m6s modified node ip-10-0-0-10 Ready=True`)
	r.readBack()
}

// TestSilence has three ways of not being heard; what happened meanwhile is made
// up for.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		name   string
		ail    func(a *cloud.Ailments, is bool)
		starts bool
	}{
		{"cut off", func(a *cloud.Ailments, is bool) { a.CutOff = is }, false},
		{"kubelet down", func(a *cloud.Ailments, is bool) { a.KubeletDown = is }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newKubeletRig(t, rigOptions{})
			i, n := r.seed()
			dying, living, removed := r.runningPod("web-1", n.Name, web()), r.runningPod("web-2", n.Name, web()), r.runningPod("web-3", n.Name, web())
			r.run(time.Second)
			r.Cloud.Ail(i, func(a *cloud.Ailments) { c.ail(a, true) })
			r.run(time.Millisecond)
			r.API.DeletePod(dying, kube.OwnGrace)
			r.API.DeletePod(removed, 0)
			late := r.pod("web-4", n.Name, web())
			r.API.UpdatePod(living, func(p *kube.Pod) {
				p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: "False", Transition: r.API.Now().Second()})
			})
			r.API.UpdateNode(n, func(n *kube.Node) {
				n.Conditions = n.Conditions.Set(kube.Condition{Type: "Ready", Status: "Unknown", Transition: r.API.Now().Second()})
			})
			r.wants(r.run(10*time.Minute), ``)
			if at, _ := r.API.RenewedBy(n.Name, &kube.LeaseRef{}); r.API.Now().Sub(at) < 10*time.Minute {
				t.Error("the lease is being renewed")
			}
			r.Cloud.Ail(i, func(a *cloud.Ailments) { c.ail(a, false) })
			got := r.run(time.Minute)
			if !dying.Gone() || !living.Ready() || !late.Ready() || !n.Ready() {
				t.Errorf("gone %v, ready %v, %v, node %v:\n%v", dying.Gone(), living.Ready(), late.Ready(), n.Ready(), got)
			}
			want := "10m1s modified node ip-10-0-0-10 Ready=True"
			if c.starts {
				want = "10m1s added event ip-10-0-0-10 Normal Starting: Starting kubelet."
			}
			if len(got) == 0 || got[0] != want {
				t.Errorf("first %s", got)
			}
			if r.group.FreeIPs != 1001 { // two seeded pods are gone, and one has come
				t.Errorf("%d addresses are free", r.group.FreeIPs)
			}
			r.readBack()
		})
	}
}

// TestVanish never confirms a deletion.
func TestVanish(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	r.run(time.Second)
	r.Cloud.Kill(i, true)
	r.run(time.Second)
	r.API.DeletePod(p, kube.OwnGrace)
	r.run(time.Second)
	r.wants(r.run(time.Hour), ``)
	if p.Gone() || p.Phase != "Running" {
		t.Errorf("gone %v, phase %s", p.Gone(), p.Phase)
	}
}

// TestRuntimeDown says why the node isn't ready, and does nothing about its pods
// until it is.
func TestRuntimeDown(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	r.run(time.Second)
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.RuntimeDown = true })
	r.wants(r.run(time.Minute), `
		6s modified node ip-10-0-0-10 Ready=False/KubeletNotReady
		6s added event ip-10-0-0-10 Normal NodeNotReady: Node ip-10-0-0-10.ec2.internal status is now: NodeNotReady`)
	if got := n.Conditions.Get("Ready").Message; got != "PLEG is not healthy: pleg was last seen active 3m1.518s ago; threshold is 3m0s" {
		t.Errorf("message %q", got)
	}
	r.API.DeletePod(p, kube.OwnGrace)
	r.run(time.Minute)
	if p.Gone() {
		t.Error("a pod was stopped without a container runtime")
	}
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.RuntimeDown = false })
	r.wants(r.run(time.Minute), `
		2m2.28s added event web-1 Normal Killing: Stopping container web
		2m4.63s modified pod web-1 Succeeded PodReadyToStartContainers=False Ready=False/PodCompleted terminated/Completed/0
		2m5.88s modified pod web-1 grace=0
		2m5.88s deleted pod web-1
		2m6s modified node ip-10-0-0-10 Ready=True
		2m6s added event ip-10-0-0-10 Normal NodeReady: Node ip-10-0-0-10.ec2.internal status is now: NodeReady`)
}

// TestDeletedNode leaves the kubelet running: its pods end when they are deleted
// and not before.
func TestDeletedNode(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i, n := r.seed()
	p, kept := r.runningPod("web-1", n.Name, web()), r.runningPod("web-2", n.Name, web())
	r.API.DeleteNode(n)
	r.run(time.Minute)
	r.API.DeletePod(p, kube.OwnGrace)
	r.run(time.Hour)
	if !p.Gone() || kept.Gone() || r.API.Node(i.Name) != nil {
		t.Errorf("gone %v and %v, node %v", p.Gone(), kept.Gone(), r.API.Node(i.Name))
	}
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.KubeletDown = true })
	r.run(time.Minute)
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.KubeletDown = false })
	r.run(time.Minute)
	if again := r.API.Node(i.Name); again == nil || again.UID == n.UID {
		t.Errorf("a kubelet that starts registers: %+v", again)
	}
}

// TestCalledNotReady says again that a pod is ready within ten seconds.
func TestCalledNotReady(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	r.API.UpdatePod(p, func(p *kube.Pod) {
		p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: "False", Transition: r.API.Now().Second()})
	})
	r.run(10 * time.Second)
	if !p.Ready() {
		t.Error("the pod isn't ready")
	}
}
