package kubelet_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// redefine changes the image of a pod's first container, as a write of its spec
// does.
func (r *kubeletRig) redefine(p *kube.Pod, image string) {
	r.Helper()
	first := true
	next := p.Template.Variant(func(c *kube.ContainerSpec) {
		if first {
			c.Image, first = image, false
		}
	})
	if !r.API.UpdatePod(p, func(p *kube.Pod) { p.Template = next; p.Generation++ }) {
		r.Fatal("the pod has that image already")
	}
}

// TestAnImageIsReplacedInPlace: the pod stays what it is, its container becomes
// another.
func TestAnImageIsReplacedInPlace(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.34.2"})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	before, was := *p, p.Containers[0]
	r.run(time.Second)
	r.redefine(p, "registry.example/web:2")
	r.wants(r.run(time.Minute), `
		1.03s modified pod web-1 PodReadyToStartContainers=True Ready=True
		1.03s added event web-1 Normal Killing: Container web definition changed, will be restarted
		3.03s added event web-1 Normal Pulling: Pulling image "registry.example/web:2"
		7.6s added event web-1 Normal Pulled: Successfully pulled image "registry.example/web:2" in 4.572s (4.572s including waiting). Image size: 62914560 bytes.
		7.9s added event web-1 Normal Created: Created container: web
		7.9s added event web-1 Normal Started: Started container web
		8.17s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running/restarts=1
		12.17s modified pod web-1 PodReadyToStartContainers=True Ready=True running/restarts=1`)
	is := p.Containers[0]
	if p.UID != before.UID || p.PodIP != before.PodIP || p.Started != before.Started || p.Phase != "Running" || p.NodeName != before.NodeName {
		t.Errorf("the pod was %+v, is %+v", before, *p)
	}
	if is.ContainerID == was.ContainerID || is.ImageID == was.ImageID || is.Image != "registry.example/web:2" || is.Restarts != 1 {
		t.Errorf("the container is %+v", is)
	}
	if is.Last.ContainerID != was.ContainerID || is.Last.Kind != "terminated" || is.Last.Reason != "Completed" || is.Last.StartedAt != was.State.StartedAt {
		t.Errorf("its last state is %+v", is.Last)
	}
	if p.ObservedGeneration != 2 || p.Conditions.Get("PodReadyToStartContainers").Transition != before.Conditions.Get("PodReadyToStartContainers").Transition {
		t.Errorf("generation %d observed, conditions %+v", p.ObservedGeneration, p.Conditions)
	}
	r.readBack()
}

// TestAnImageThatCantBePulledIsTakenBack: the pod still says what it ran, and
// comes back at once with the image of before.
func TestAnImageThatCantBePulledIsTakenBack(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.34.2"})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	was := p.Containers[0]
	r.Cloud.Registry.Break("registry.example/web:2", "not found", 0)
	r.redefine(p, "registry.example/web:2")
	r.wants(r.run(30*time.Second), `
		30ms modified pod web-1 PodReadyToStartContainers=True Ready=True
		30ms added event web-1 Normal Killing: Container web definition changed, will be restarted
		2.03s added event web-1 Normal Pulling: Pulling image "registry.example/web:2"
		2.73s added event web-1 Warning Failed: Failed to pull image "registry.example/web:2": rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/web:2": failed to resolve reference "registry.example/web:2": registry.example/web:2: not found
		2.73s added event web-1 Warning Failed: Error: ErrImagePull
		2.73s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady waiting/ErrImagePull
		3.43s added event web-1 Normal BackOff: Back-off pulling image "registry.example/web:2"
		3.43s added event web-1 Warning Failed: Error: ImagePullBackOff
		3.43s modified pod web-1 waiting/ImagePullBackOff
		15.93s modified event web-1 x2
		16.63s modified event web-1 x2
		16.63s modified event web-1 x2
		16.63s modified pod web-1 waiting/ErrImagePull
		29.13s modified event web-1 x2
		29.13s modified event web-1 x2
		29.13s modified pod web-1 waiting/ImagePullBackOff`)
	if is := p.Containers[0]; is.Image != was.Image || is.ContainerID != was.ContainerID || is.Restarts != 0 || p.Phase != "Running" {
		t.Errorf("phase %s, container %+v", p.Phase, is)
	}
	r.redefine(p, "registry.example/web:1")
	r.wants(r.run(30*time.Second), `
		30.03s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady
		30.03s added event web-1 Normal Pulled: Container image "registry.example/web:1" already present on machine
		30.33s added event web-1 Normal Created: Created container: web
		30.33s added event web-1 Normal Started: Started container web
		30.6s modified pod web-1 running/restarts=1
		34.6s modified pod web-1 PodReadyToStartContainers=True Ready=True running/restarts=1`)
	if is := p.Containers[0]; is.Restarts != 1 || is.Image != was.Image || is.ContainerID == was.ContainerID || !p.Ready() {
		t.Errorf("the container is %+v", is)
	}
}

// TestAnImageThatCrashes is started again and again, and can be taken back.
func TestAnImageThatCrashes(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.34.2"})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	r.Cloud.Registry.Spoil("registry.example/web:2")
	r.redefine(p, "registry.example/web:2")
	r.wants(r.run(40*time.Second), `
		30ms modified pod web-1 PodReadyToStartContainers=True Ready=True
		30ms added event web-1 Normal Killing: Container web definition changed, will be restarted
		2.03s added event web-1 Normal Pulling: Pulling image "registry.example/web:2"
		6.6s added event web-1 Normal Pulled: Successfully pulled image "registry.example/web:2" in 4.572s (4.572s including waiting). Image size: 62914560 bytes.
		6.9s added event web-1 Normal Created: Created container: web
		6.9s added event web-1 Normal Started: Started container web
		7.17s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running/restarts=1
		8.17s modified pod web-1 terminated/Error/1/restarts=1
		8.87s added event web-1 Normal Pulled: Container image "registry.example/web:2" already present on machine
		9.17s modified event web-1 x2
		9.17s modified event web-1 x2
		9.45s modified pod web-1 running/restarts=2
		10.45s modified pod web-1 terminated/Error/1/restarts=2
		11.15s added event web-1 Warning BackOff: Back-off restarting failed container web in pod web-1_default(00000000-0000-4000-8000-000000000002)
		11.15s modified pod web-1 waiting/CrashLoopBackOff/restarts=2
		23.65s modified event web-1 x2
		23.95s modified event web-1 x3
		23.95s modified event web-1 x3
		24.22s modified pod web-1 running/restarts=3
		25.22s modified pod web-1 terminated/Error/1/restarts=3
		25.92s modified event web-1 x2
		25.92s modified pod web-1 waiting/CrashLoopBackOff/restarts=3
		38.42s modified event web-1 x3`)
	r.redefine(p, "registry.example/web:1")
	r.wants(r.run(40*time.Second), `
		40.03s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady
		40.03s added event web-1 Normal Pulled: Container image "registry.example/web:1" already present on machine
		40.33s modified event web-1 x4
		40.33s modified event web-1 x4
		40.6s modified pod web-1 running/restarts=4
		44.6s modified pod web-1 PodReadyToStartContainers=True Ready=True running/restarts=4`)
}

// TestAChangeDuringAPullIsSeenBehindIt: the kubelet doesn't look before.
func TestAChangeDuringAPullIsSeenBehindIt(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.34.2"})
	_, n := r.seed()
	big := web()
	big.Workload = &traits{ImageBytes: 4 << 30, StartReady: fixed(2 * time.Second), Stop: fixed(time.Second)}
	p := r.runningPod("web-1", n.Name, big)
	r.redefine(p, "registry.example/web:2")
	r.run(4 * time.Second)
	r.redefine(p, "registry.example/web:3")
	r.wants(r.run(5*time.Minute), `
		26.03s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running
		1m51.4s added event web-1 Normal Pulled: Successfully pulled image "registry.example/web:2" in 1m50.374s (1m50.374s including waiting). Image size: 4294967296 bytes.
		1m51.7s added event web-1 Normal Created: Created container: web
		1m51.7s added event web-1 Normal Started: Started container web
		1m51.73s modified pod web-1 running/restarts=1
		1m51.73s modified event web-1 x2
		1m52.73s added event web-1 Normal Pulling: Pulling image "registry.example/web:3"
		2m40s modified node ip-10-0-0-10 Ready=True
		3m43.1s added event web-1 Normal Pulled: Successfully pulled image "registry.example/web:3" in 1m50.374s (1m50.374s including waiting). Image size: 4294967296 bytes.
		3m43.4s modified event web-1 x2
		3m43.4s modified event web-1 x2
		3m43.68s modified pod web-1 running/restarts=2
		3m45.68s modified pod web-1 PodReadyToStartContainers=True Ready=True running/restarts=2`)
	if is := p.Containers[0]; is.Restarts != 2 || is.Image != "registry.example/web:3" {
		t.Errorf("the container is %+v", is)
	}
}

// TestOnlyWhatChangesIsReplaced of two containers, and a change that a silent
// kubelet has missed is made up for.
func TestOnlyWhatChangesIsReplaced(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.33.5"})
	_, n := r.seed()
	two := web()
	two.Containers = append(two.Containers, kube.ContainerSpec{Name: "proxy", Image: "registry.example/proxy:1"})
	p := r.runningPod("web-1", n.Name, two)
	proxy := p.Containers[1]
	r.redefine(p, "registry.example/web:2")
	r.wants(r.run(time.Minute), `
		30ms added event web-1 Normal Killing: Container web definition changed, will be restarted
		2.03s added event web-1 Normal Pulling: Pulling image "registry.example/web:2"
		6.6s added event web-1 Normal Pulled: Successfully pulled image "registry.example/web:2" in 4.572s (4.572s including waiting). Image size: 62914560 bytes.
		6.9s added event web-1 Normal Created: Created container: web
		6.9s added event web-1 Normal Started: Started container web
		7.17s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running/restarts=1 running
		11.17s modified pod web-1 PodReadyToStartContainers=True Ready=True running/restarts=1 running`)
	if p.Containers[1] != proxy || !p.Ready() {
		t.Errorf("the other container was %+v, is %+v", proxy, p.Containers[1])
	}
}

// TestEveryRunHasAnIdentity: a pod that is changed again and again never has the
// same container twice.
func TestEveryRunHasAnIdentity(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.34.2"})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	seen := map[string]int{p.Containers[0].ContainerID: 0}
	for i := range 6 {
		if i%3 == 2 {
			r.k.Crash(p, "")
		} else {
			r.redefine(p, fmt.Sprint("registry.example/web:", i+2))
		}
		r.run(20 * time.Minute)
		c := p.Containers[0]
		if was, again := seen[c.ContainerID]; again || int(c.Restarts) != i+1 || !p.Ready() {
			t.Errorf("change %d: container %s, restarted %d times, ready %t; change %d had it before: %t", i, c.ContainerID, c.Restarts, p.Ready(), was, again)
		}
		seen[c.ContainerID] = i + 1
	}
}
