package kubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

func resizable() *kube.Template {
	t := web()
	t.Resizable = true
	return t
}

// resize changes what a pod's containers ask for, as a write of the resize
// subresource does.
func (r *kubeletRig) resize(p *kube.Pod, cpu, memory int64) {
	r.Helper()
	next := p.Template.Variant(func(c *kube.ContainerSpec) { c.CPU, c.Memory = cpu, memory })
	if !r.API.UpdatePod(p, func(p *kube.Pod) { p.Template = next; p.Generation++ }) {
		r.Fatal("the pod has these resources already")
	}
}

// given is what a container's status says of its resources.
func given(p *kube.Pod) string {
	g := p.Containers[0].Given
	if g == nil {
		return "nothing"
	}
	text := func(r kube.Resources) string { return kube.MilliCPU(r.CPU) + " " + kube.Bytes(r.Memory) }
	return "allocated " + text(g.Allocated) + ", has " + text(g.Actual)
}

func (r *kubeletRig) says(p *kube.Pod, want string) {
	r.Helper()
	got := given(p)
	for _, kind := range []string{"PodResizePending", "PodResizeInProgress"} {
		if c := p.Conditions.Get(kind); c != nil {
			got += "; " + strings.TrimSpace(kind+" "+c.Reason)
		}
	}
	if got != want {
		r.Errorf("the status says %q, want %q", got, want)
	}
}

// TestAResizeLeavesTheContainerAlone where no policy says otherwise.
func TestAResizeLeavesTheContainerAlone(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.34.2"})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, resizable())
	was := p.Containers[0]
	r.says(p, "allocated 100m 128Mi, has 100m 128Mi")
	r.resize(p, 400, 512<<20)
	r.run(100 * time.Millisecond)
	r.says(p, "allocated 400m 512Mi, has 100m 128Mi; PodResizeInProgress")
	r.wants(r.run(time.Minute), `
		730ms added event web-1 Normal ResizeCompleted: Pod resize completed: {"containers":[{"name":"web","resources":{"requests":{"cpu":"400m","memory":"512Mi"}}}],"generation":2}
		730ms modified pod web-1 PodReadyToStartContainers=True Ready=True running`)
	r.says(p, "allocated 400m 512Mi, has 400m 512Mi")
	if is := p.Containers[0]; is.ContainerID != was.ContainerID || is.Restarts != 0 || !p.Ready() {
		t.Errorf("the container was %+v, is %+v", was, is)
	}
	r.readBack()
}

// TestAResizeRestartsWhereThePolicySaysSo.
func TestAResizeRestartsWhereThePolicySaysSo(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.36.3"})
	_, n := r.seed()
	own := resizable()
	own.Containers[0].CPUPolicy, own.Containers[0].MemoryPolicy = "NotRequired", "RestartContainer"
	p := r.runningPod("web-1", n.Name, own)
	was := p.Containers[0]
	r.resize(p, 400, 128<<20)
	r.run(time.Minute)
	if is := p.Containers[0]; is.ContainerID != was.ContainerID {
		t.Errorf("a change of the CPU alone has restarted %+v", is)
	}
	r.resize(p, 400, 512<<20)
	r.wants(r.run(time.Minute), `
		1m0.03s added event web-1 Normal ResizeStarted: Pod resize started: {"containers":[{"name":"web","resources":{"requests":{"cpu":"400m","memory":"512Mi"}}}],"generation":3}
		1m0.03s modified pod web-1 PodResizeInProgress=True PodReadyToStartContainers=True Ready=True running
		1m0.03s added event web-1 Normal Killing: Container web resize requires restart
		1m2.03s added event web-1 Normal Pulled: Container image "registry.example/web:1" already present on machine and can be accessed by the pod
		1m2.33s added event web-1 Normal Created: Container created
		1m2.33s added event web-1 Normal Started: Container started
		1m2.33s added event web-1 Normal ResizeCompleted: Pod resize completed: {"containers":[{"name":"web","resources":{"requests":{"cpu":"400m","memory":"512Mi"}}}],"generation":3}
		1m2.6s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running/restarts=1
		1m6.6s modified pod web-1 PodReadyToStartContainers=True Ready=True running/restarts=1`)
	r.says(p, "allocated 400m 512Mi, has 400m 512Mi")
	if is := p.Containers[0]; is.ContainerID == was.ContainerID || is.Restarts != 1 || is.ImageID != was.ImageID {
		t.Errorf("the container is %+v", is)
	}
}

// TestAResizeBeyondTheNode is infeasible: the pod runs on as it is.
func TestAResizeBeyondTheNode(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.34.2"})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, resizable())
	r.resize(p, 8000, 128<<20)
	r.run(10 * time.Minute)
	r.says(p, "allocated 100m 128Mi, has 100m 128Mi; PodResizePending Infeasible")
	if got, want := p.Conditions.Get("PodResizePending").Message, "Node didn't have enough capacity: cpu, requested: 8000, capacity: 1930"; got != want {
		t.Errorf("the condition says %q, want %q", got, want)
	}
	r.resize(p, 100, 128<<20)
	r.run(time.Minute)
	r.says(p, "allocated 100m 128Mi, has 100m 128Mi")
}

// TestADeferredResizeWaitsForAPodToGo, or for the next look.
func TestADeferredResizeWaitsForAPodToGo(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.36.3"})
	_, n := r.seed()
	large := resizable()
	large.Containers[0].CPU = 1500
	p, other := r.runningPod("web-1", n.Name, resizable()), r.runningPod("web-2", n.Name, large)
	r.resize(p, 1000, 128<<20)
	r.wants(r.run(4*time.Minute), `
		30ms added event web-1 Warning ResizeDeferred: Pod resize Deferred: {"containers":[{"name":"web","resources":{"requests":{"cpu":"1","memory":"128Mi"}}}],"generation":2,"error":"Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 1930"}
		30ms modified pod web-1 PodResizePending=True PodReadyToStartContainers=True Ready=True
		2m40s modified node ip-10-0-0-10 Ready=True`)
	r.says(p, "allocated 100m 128Mi, has 100m 128Mi; PodResizePending Deferred")
	r.API.DeletePod(other, kube.OwnGrace)
	r.wants(r.run(time.Minute), `
		4m0.55s added event web-2 Normal Killing: Stopping container web
		4m2.9s modified pod web-2 Succeeded PodReadyToStartContainers=False Ready=False/PodCompleted terminated/Completed/0
		4m4.15s modified pod web-2 grace=0
		4m4.15s deleted pod web-2
		4m4.18s added event web-1 Normal ResizeStarted: Pod resize started: {"containers":[{"name":"web","resources":{"requests":{"cpu":"1","memory":"128Mi"}}}],"generation":2}
		4m4.18s modified pod web-1 PodResizeInProgress=True PodReadyToStartContainers=True Ready=True running
		4m4.88s added event web-1 Normal ResizeCompleted: Pod resize completed: {"containers":[{"name":"web","resources":{"requests":{"cpu":"1","memory":"128Mi"}}}],"generation":2}
		4m4.88s modified pod web-1 PodReadyToStartContainers=True Ready=True running`)
	r.says(p, "allocated 1 128Mi, has 1 128Mi")
}

// TestAResizeOfAPodThatDidntSay what it was given: it does from then on. Before
// 1.33 nothing happens.
func TestAResizeOfAPodThatDidntSay(t *testing.T) {
	for version, want := range map[string]string{"v1.33.5": "allocated 400m 512Mi, has 400m 512Mi", "v1.32.9": "nothing"} {
		r := newKubeletRig(t, rigOptions{version: version})
		_, n := r.seed()
		p := r.runningPod("web-1", n.Name, web())
		r.says(p, "nothing")
		r.resize(p, 400, 512<<20)
		r.run(time.Minute)
		r.says(p, want)
	}
}

// TestACrashIsRestarted at once the first time, and held back the second.
func TestACrashIsRestarted(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.34.2"})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	if !r.k.Crash(p, "") || r.k.Crash(p, "proxy") {
		t.Fatal("want the first container to crash, and none that isn't there")
	}
	r.wants(r.run(time.Minute), `
		280ms modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady terminated/Error/1
		980ms added event web-1 Normal Pulled: Container image "registry.example/web:1" already present on machine
		1.28s added event web-1 Normal Created: Created container: web
		1.28s added event web-1 Normal Started: Started container web
		1.55s modified pod web-1 running/restarts=1
		5.55s modified pod web-1 PodReadyToStartContainers=True Ready=True running/restarts=1`)
	r.k.Crash(p, "web")
	r.wants(r.run(30*time.Second), `
		1m0.28s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady terminated/Error/1/restarts=1
		1m0.98s added event web-1 Warning BackOff: Back-off restarting failed container web in pod web-1_default(00000000-0000-4000-8000-000000000002)
		1m0.98s modified pod web-1 waiting/CrashLoopBackOff/restarts=1
		1m13.48s modified event web-1 x2
		1m13.78s modified event web-1 x2
		1m13.78s modified event web-1 x2
		1m14.05s modified pod web-1 running/restarts=2
		1m18.05s modified pod web-1 PodReadyToStartContainers=True Ready=True running/restarts=2`)
	if is := p.Containers[0]; is.Restarts != 2 || !p.Ready() {
		t.Errorf("the container is %+v", is)
	}
}
