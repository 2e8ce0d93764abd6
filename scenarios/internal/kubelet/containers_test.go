package kubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// three are pods with two containers besides the first, each with a program of its own.
func three() *kube.Template {
	t := web()
	t.Containers = append(t.Containers,
		kube.ContainerSpec{Name: "proxy", Image: "registry.example/proxy:1", CPU: 50},
		kube.ContainerSpec{Name: "logs", Image: "registry.example/logs:1"})
	t.Workload = &component.PodTraits{
		StartReady: model.Fixed(4 * time.Second), Stop: model.Fixed(10 * time.Second), ImageBytes: 60 << 20,
		Others: []component.ContainerTraits{
			{StartReady: model.Fixed(time.Second), Stop: model.Fixed(2 * time.Second), ImageBytes: 10 << 20},
			{StartReady: model.Fixed(8 * time.Second), NeverStops: true, ImageBytes: 5 << 20},
		},
	}
	return t
}

// pods keeps the writes of pods of a story.
func pods(story []string) (some []string) {
	for _, line := range story {
		if strings.Contains(line, " pod ") {
			some = append(some, line)
		}
	}
	return some
}

// TestContainersEachInTheirTime: they start in order, become ready and exit each in its own time, and the status shows it.
func TestContainersEachInTheirTime(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	p := r.pod("web-1", n.Name, three())
	r.wants(pods(r.run(time.Minute)), `
		300ms modified pod web-1 PodReadyToStartContainers=False Ready=False/ContainersNotReady waiting/ContainerCreating waiting/ContainerCreating waiting/ContainerCreating
		6.47s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.1 running waiting/ContainerCreating waiting/ContainerCreating
		10.04s modified pod web-1 running running waiting/ContainerCreating
		10.05s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running running waiting/ContainerCreating
		10.61s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running running waiting/ContainerCreating
		13.04s modified pod web-1 Running running running running
		21.04s modified pod web-1 PodReadyToStartContainers=True Ready=True running running running`)
	if !p.Ready() {
		t.Error("the pod isn't Ready")
	}
	r.API.DeletePod(p, kube.OwnGrace)
	r.wants(r.run(time.Minute), `
		1m0.55s added event web-1 Normal Killing: Stopping container web
		1m0.55s added event web-1 Normal Killing: Stopping container proxy
		1m0.55s added event web-1 Normal Killing: Stopping container logs
		1m2.55s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running terminated/Completed/0 running
		1m10.55s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady terminated/Completed/0 terminated/Completed/0 running
		1m30.9s modified pod web-1 Failed PodReadyToStartContainers=False Ready=False/PodFailed terminated/Completed/0 terminated/Completed/0 terminated/Error/137
		1m32.15s modified pod web-1 grace=0
		1m32.15s deleted pod web-1`)
	r.readBack()
}

// TestContainersHurry: a shorter grace period kills those that run on, and leaves the exits before it as they were.
func TestContainersHurry(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, three())
	r.run(time.Minute)
	r.API.DeletePod(p, kube.OwnGrace)
	r.run(time.Second)
	r.API.DeletePod(p, 5)
	r.wants(pods(r.run(time.Minute)), `
		1m2.55s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running terminated/Completed/0 running
		1m6.35s modified pod web-1 Failed PodReadyToStartContainers=False Ready=False/PodFailed terminated/Error/137 terminated/Completed/0 terminated/Error/137
		1m7.6s modified pod web-1 grace=0
		1m7.6s deleted pod web-1`)
	r.readBack()
}

// TestContainerCrashesAlone: the others run on, and restarts are counted for each container.
func TestContainerCrashesAlone(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, three())
	r.run(time.Minute)
	if r.k.Crash(p, "none") || !r.k.Crash(p, "proxy") {
		t.Error("a container that isn't there crashed, or proxy didn't")
	}
	r.wants(r.run(time.Minute), `
		1m0.28s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running terminated/Error/1 running
		1m0.98s added event web-1 Normal Pulled: Container image "registry.example/proxy:1" already present on machine
		1m1.28s added event web-1 Normal Created: Created container: proxy
		1m1.28s added event web-1 Normal Started: Started container proxy
		1m2.28s modified pod web-1 PodReadyToStartContainers=True Ready=True running running/restarts=1 running`)
	r.readBack()
}

// TestImagesOfTwoContainersAreSpoilt: both crash again and again.
func TestImagesOfTwoContainersAreSpoilt(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	mend := []func(){r.Cloud.Registry.Spoil("registry.example/proxy:1"), r.Cloud.Registry.Spoil("registry.example/logs:1")}
	p := r.pod("web-1", n.Name, three())
	r.wants(pods(r.run(time.Minute)), `
		300ms modified pod web-1 PodReadyToStartContainers=False Ready=False/ContainersNotReady waiting/ContainerCreating waiting/ContainerCreating waiting/ContainerCreating
		6.47s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.1 running waiting/ContainerCreating waiting/ContainerCreating
		10.04s modified pod web-1 running running waiting/ContainerCreating
		10.05s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running running waiting/ContainerCreating
		13.04s modified pod web-1 Running running running running
		14.04s modified pod web-1 running terminated/Error/1 terminated/Error/1
		15.62s modified pod web-1 running running/restarts=1 running/restarts=1
		16.62s modified pod web-1 running terminated/Error/1/restarts=1 terminated/Error/1/restarts=1
		17.32s added event web-1 Warning BackOff: Back-off restarting failed container proxy in pod web-1_default(00000000-0000-4000-8000-000000000002)
		17.32s added event web-1 Warning BackOff: Back-off restarting failed container logs in pod web-1_default(00000000-0000-4000-8000-000000000002)
		17.32s modified pod web-1 running waiting/CrashLoopBackOff/restarts=1 waiting/CrashLoopBackOff/restarts=1
		30.69s modified pod web-1 running running/restarts=2 running/restarts=2
		31.69s modified pod web-1 running terminated/Error/1/restarts=2 terminated/Error/1/restarts=2
		32.39s modified pod web-1 running waiting/CrashLoopBackOff/restarts=2 waiting/CrashLoopBackOff/restarts=2
		58.27s modified pod web-1 running running/restarts=3 running/restarts=3
		59.27s modified pod web-1 running terminated/Error/1/restarts=3 terminated/Error/1/restarts=3
		59.97s modified pod web-1 running waiting/CrashLoopBackOff/restarts=3 waiting/CrashLoopBackOff/restarts=3`)
	for _, m := range mend {
		m()
	}
	r.run(10 * time.Minute)
	if !p.Ready() {
		t.Errorf("the pod isn't Ready although its images are good again: %+v", p.Containers)
	}
	r.readBack()
}

// TestImagesOfTwoContainersAreMissing: the third one is started, and each is pulled once its image is there.
func TestImagesOfTwoContainersAreMissing(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	first, second := r.Cloud.Registry.Break("registry.example/web:1", "not found", 0), r.Cloud.Registry.Break("registry.example/proxy:1", "not found", 0)
	p := r.pod("web-1", n.Name, three())
	r.wants(r.run(time.Minute), `
		300ms modified pod web-1 PodReadyToStartContainers=False Ready=False/ContainersNotReady waiting/ContainerCreating waiting/ContainerCreating waiting/ContainerCreating
		900ms added event web-1 Normal Pulling: Pulling image "registry.example/web:1"
		1.6s added event web-1 Warning Failed: Failed to pull image "registry.example/web:1": rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/web:1": failed to resolve reference "registry.example/web:1": registry.example/web:1: not found
		1.6s added event web-1 Warning Failed: Error: ErrImagePull
		1.6s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.1 waiting/ErrImagePull waiting/ContainerCreating waiting/ContainerCreating
		1.6s added event web-1 Normal Pulling: Pulling image "registry.example/proxy:1"
		2.3s added event web-1 Warning Failed: Failed to pull image "registry.example/proxy:1": rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/proxy:1": failed to resolve reference "registry.example/proxy:1": registry.example/proxy:1: not found
		2.3s added event web-1 Warning Failed: Error: ErrImagePull
		2.3s modified pod web-1 waiting/ErrImagePull waiting/ErrImagePull waiting/ContainerCreating
		2.3s added event web-1 Normal Pulling: Pulling image "registry.example/logs:1"
		5.43s added event web-1 Normal Pulled: Successfully pulled image "registry.example/logs:1" in 3.131s (3.131s including waiting). Image size: 5242880 bytes.
		5.73s added event web-1 Normal Created: Created container: logs
		5.73s added event web-1 Normal Started: Started container logs
		6.01s modified pod web-1 waiting/ErrImagePull waiting/ErrImagePull running
		6.71s added event web-1 Normal BackOff: Back-off pulling image "registry.example/web:1"
		6.71s added event web-1 Warning Failed: Error: ImagePullBackOff
		6.71s added event web-1 Normal BackOff: Back-off pulling image "registry.example/proxy:1"
		6.71s added event web-1 Warning Failed: Error: ImagePullBackOff
		6.71s modified pod web-1 waiting/ImagePullBackOff waiting/ImagePullBackOff running
		14.01s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady waiting/ImagePullBackOff waiting/ImagePullBackOff running
		19.21s modified event web-1 x2
		19.91s modified event web-1 x2
		19.91s modified event web-1 x2
		19.91s modified pod web-1 waiting/ErrImagePull waiting/ImagePullBackOff running
		32.41s modified event web-1 x2
		33.11s modified event web-1 x2
		33.11s modified event web-1 x2
		33.11s modified pod web-1 waiting/ErrImagePull waiting/ErrImagePull running
		45.61s modified event web-1 x3
		46.31s modified event web-1 x3
		46.31s modified event web-1 x3
		58.81s modified event web-1 x3
		59.51s modified event web-1 x3
		59.51s modified event web-1 x3`)
	second()
	r.run(10 * time.Minute)
	if p.Ready() || p.Containers[0].State.Kind != "waiting" || p.Containers[1].State.Kind != "running" || !p.Containers[1].Ready || !p.Containers[2].Ready {
		t.Errorf("found %+v, want that the first waits alone", p.Containers)
	}
	first()
	r.run(10 * time.Minute)
	for _, c := range p.Containers {
		if !p.Ready() || c.Restarts > 0 {
			t.Errorf("found the pod Ready=%t and %+v, want that and no restart", p.Ready(), c)
		}
	}
	r.readBack()
}
