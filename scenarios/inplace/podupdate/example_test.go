package podupdate_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

func ExampleKeys_Progress() {
	var keys podupdate.Keys
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pod := fakekubelet.New("web-7d4", "registry.example/web:1.0.0")

	pod, _, _ = keys.Apply(pod, podupdate.UpdateOptions{ContainerImages: map[string]string{"app": "registry.example/web:2.0.0"}}, start)
	show := func(after time.Duration) {
		p, _ := keys.Progress(pod, nil, 5*time.Minute, start.Add(after))
		fmt.Printf("%-5s %s: %s\n", after, keys.SandboxPhase(pod), p)
	}
	show(0)
	fakekubelet.Wait(pod, "app", "ImagePullBackOff", "not found")
	show(20 * time.Second)
	show(6 * time.Minute)

	pod, _, _ = keys.Rollback(pod, start.Add(6*time.Minute))
	fakekubelet.Settle(pod)
	show(7 * time.Minute)
	pod, _, _ = keys.Complete(pod, start.Add(7*time.Minute))
	fmt.Println(keys.SandboxPhase(pod), pod.Spec.Containers[0].Image)
	// Output:
	// 0s    starting: InProgress OldContainer (app): the container isn't replaced yet
	// 20s   starting: InProgress ImagePullBackOff (app): not found
	// 6m0s  starting: Failed DeadlineExceeded (app): ImagePullBackOff after 6m0s of 5m0s: not found
	// 7m0s  stopping: Done
	// idle registry.example/web:1.0.0
}

func ExampleKeys_UnexpectedRestart() {
	var keys podupdate.Keys
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pod := fakekubelet.New("web-7d4", "web:1", "mesh:1")
	pod, _, _ = keys.Apply(pod, podupdate.UpdateOptions{ContainerImages: map[string]string{"app": "web:2"}}, now)
	pod, _, _ = keys.Complete(fakekubelet.Settle(pod), now)

	fakekubelet.Start(pod, "side") // a sidecar that wasn't updated
	fmt.Println(keys.UnexpectedRestart(pod))
	fakekubelet.Start(pod, "app")
	fmt.Println(keys.UnexpectedRestart(pod))
	// Output:
	//  false
	// app true
}

func ExampleResizeProgress() {
	pod := fakekubelet.New("web-7d4", "web:1")
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m")}
	fakekubelet.Start(pod, "app")
	wanted := podupdate.Resources{"app": {Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("400m")}}}

	pod, changed, _ := podupdate.ApplyResize(pod, wanted)
	fmt.Println(changed, podupdate.ResizeProgress(pod))
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonDeferred, Message: "Node didn't have enough resource: cpu",
	})
	fmt.Println(podupdate.ResizeProgress(pod))
	// Output:
	// true InProgress ResourcesDiffer (app): the container has other resources than its spec
	// InProgress Deferred: Node didn't have enough resource: cpu
}

func Example_recorded() {
	digests := imageresolver.Record(map[string]imageresolver.Digests{
		"nginx:1.28": {Manifest: "sha256:28aa", Config: "sha256:c0"},
	})
	fmt.Println(digests.Runs("docker.io/library/nginx:1.28", "docker.io/library/nginx@sha256:28aa"))
	fmt.Println(digests.Runs("nginx:1.28", "nginx@sha256:27bb"))
	fmt.Println(digests.Runs("redis:8", "redis@sha256:80"))
	// Output:
	// yes
	// no
	// unknown
}
