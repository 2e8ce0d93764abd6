package inplace

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// aPod is a running pod of one or two containers as a kubelet reports it: container c of image i runs by the digest
// of i.
func aPod(phase string, images ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web-1", UID: "u-1", CreationTimestamp: metav1.NewTime(t0.Add(-10 * time.Minute)), Generation: 1,
	}}
	if phase != "" {
		pod.Labels = map[string]string{DefaultKeys().Phase: phase}
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue},
	}
	for i, image := range images {
		name := []string{"app", "side", "third"}[i]
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name, Image: image})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, runningStatus(name, image, 0))
	}
	return pod
}

func digestOf(image string) string {
	digest := ""
	for len(digest) < 64 {
		for _, b := range []byte(image) {
			digest += string("0123456789abcdef"[b%16])
		}
	}
	return "sha256:" + digest[:64]
}

func runningStatus(name, image string, generation int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: name, Image: image, ImageID: "registry.example/any@" + digestOf(image), RestartCount: generation, Ready: true,
		ContainerID: "containerd://" + name + "-" + image + "-" + string(rune('a'+generation)),
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(t0)}},
	}
}

// settled plays the kubelet to its end: each container whose image differs from its status is replaced.
func settled(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	for i, c := range pod.Spec.Containers {
		if s := &pod.Status.ContainerStatuses[i]; s.Image != c.Image {
			*s = runningStatus(c.Name, c.Image, s.RestartCount+1)
		}
	}
	return pod
}

func TestAnUpdateFromIdleToRunning(t *testing.T) {
	var k Keys
	pod := aPod(SandboxPhaseIdle, "idle:1", "idle:2")
	next, changed, err := k.Apply(pod, UpdateOptions{ContainerImages: map[string]string{"app": "new:1", "side": "new:2"}}, t0)
	if err != nil || !changed {
		t.Fatalf("Apply: changed %v, %v", changed, err)
	}
	state, err := k.Read(next)
	if err != nil {
		t.Fatal(err)
	}
	if next.Labels[k.Filled().Phase] != "starting" || state.Phase != "starting" || state.TargetPodPhase != "running" ||
		len(state.TargetImages) != 2 || state.LastContainerStatuses["side"].ImageID != pod.Status.ContainerStatuses[1].ImageID {
		t.Fatalf("state %+v", state)
	}
	if p, err := k.Progress(next, nil, 0, t0); err != nil || p.Reason != ReasonOldContainer || p.Container != "app" {
		t.Fatalf("before the kubelet: %v, %v", p, err)
	}
	done := settled(next)
	if p, err := k.Progress(done, nil, 0, t0); err != nil || p.State != Done {
		t.Fatalf("after the kubelet: %v, %v", p, err)
	}
	marked, changed, err := k.Complete(done, t0.Add(time.Minute))
	if err != nil || !changed || k.SandboxPhase(marked) != "running" {
		t.Fatalf("Complete: %v %v %v", marked, changed, err)
	}
	if c, is := k.UnexpectedRestart(marked); is {
		t.Fatalf("%s was restarted", c)
	}
	back, changed, err := k.Rollback(marked, t0.Add(2*time.Minute))
	if err != nil || !changed || back.Spec.Containers[0].Image != "idle:1" || k.SandboxPhase(back) != "stopping" {
		t.Fatalf("Rollback: %v %v %v", back, changed, err)
	}
	idle, _, err := k.Complete(settled(back), t0.Add(3*time.Minute))
	if err != nil || k.SandboxPhase(idle) != "idle" {
		t.Fatalf("Complete the rollback: %v, %v", idle, err)
	}
}
