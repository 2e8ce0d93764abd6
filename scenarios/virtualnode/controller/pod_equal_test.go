package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodsAreEqualInWhatMayChange(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*corev1.Pod)
		equal  bool
	}{
		"nothing":          {func(*corev1.Pod) {}, true},
		"status":           {func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }, true},
		"resource version": {func(p *corev1.Pod) { p.ResourceVersion = "77" }, true},
		"environment order": {func(p *corev1.Pod) {
			env := p.Spec.Containers[0].Env
			env[0], env[1] = env[1], env[0]
		}, true},
		"environment":    {func(p *corev1.Pod) { p.Spec.Containers[0].Env[0].Value = "other" }, false},
		"image":          {func(p *corev1.Pod) { p.Spec.Containers[0].Image = "registry.example/app:2" }, false},
		"init container": {func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{{Name: "init"}} }, false},
		"ephemeral container": {func(p *corev1.Pod) {
			p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{}}
		}, false},
		"label":      {func(p *corev1.Pod) { p.Labels["more"] = "yes" }, false},
		"annotation": {func(p *corev1.Pod) { p.Annotations = map[string]string{"more": "yes"} }, false},
		"deadline":   {func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(5)) }, false},
		"toleration": {func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Key: "a"}} }, false},
		"size": {func(p *corev1.Pod) {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}
		}, false},
	} {
		t.Run(what, func(t *testing.T) {
			pod := aPod("web")
			pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}
			other := pod.DeepCopy()
			c.change(other)
			if got := podsEqual(pod, other); got != c.equal {
				t.Errorf("equal is %t: want %t", got, c.equal)
			}
			if got := podShouldEnqueue(pod, other); got == c.equal {
				t.Errorf("should enqueue is %t: want %t", got, !c.equal)
			}
		})
	}
}

func TestDeletionIsTheProvidersConcern(t *testing.T) {
	now := metav1.Now()
	for what, change := range map[string]func(*corev1.Pod){
		"time":  func(p *corev1.Pod) { p.DeletionTimestamp = &now },
		"grace": func(p *corev1.Pod) { p.DeletionGracePeriodSeconds = new(int64(1)) },
	} {
		pod := aPod("web")
		other := pod.DeepCopy()
		change(other)
		if !podShouldEnqueue(pod, other) {
			t.Errorf("a changed deletion %s isn't told to the provider", what)
		}
		if podFingerprint(pod) == podFingerprint(other) {
			t.Errorf("a changed deletion %s leaves the fingerprint alike", what)
		}
	}
	if podShouldEnqueue(nil, nil) || !podShouldEnqueue(nil, aPod("web")) {
		t.Error("a pod that appears is the provider's concern, nothing is not")
	}
}

func TestFingerprintIgnoresWhatTheProviderIsNotTold(t *testing.T) {
	pod := aPod("web")
	other := pod.DeepCopy()
	other.ResourceVersion, other.Status.Phase = "77", corev1.PodRunning
	other.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "somebody"}}
	if podFingerprint(pod) != podFingerprint(other) {
		t.Error("status, version or managed fields change the fingerprint")
	}
	other.Spec.Containers[0].Image = "registry.example/app:2"
	if podFingerprint(pod) == podFingerprint(other) {
		t.Error("an image doesn't change the fingerprint")
	}
}

func TestWhichContainersRun(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	list := func(states ...corev1.ContainerState) (all []corev1.ContainerStatus) {
		for _, state := range states {
			all = append(all, corev1.ContainerStatus{State: state})
		}
		return all
	}
	for name, c := range map[string]struct {
		status corev1.PodStatus
		runs   bool
	}{
		"none":             {corev1.PodStatus{}, false},
		"running":          {corev1.PodStatus{ContainerStatuses: list(ended, running)}, true},
		"no state":         {corev1.PodStatus{ContainerStatuses: list(corev1.ContainerState{})}, true},
		"waiting or ended": {corev1.PodStatus{ContainerStatuses: list(waiting, ended)}, false},
		"init":             {corev1.PodStatus{InitContainerStatuses: list(running)}, true},
		"ephemeral":        {corev1.PodStatus{EphemeralContainerStatuses: list(running)}, true},
	} {
		if got := anyContainerRuns(&c.status); got != c.runs {
			t.Errorf("%s: a container runs: %t, want %t", name, got, c.runs)
		}
	}
}
