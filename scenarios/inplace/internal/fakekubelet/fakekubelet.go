// Package fakekubelet plays a kubelet by hand, for tests: a test says what the kubelet of a pod reports next, and no step is
// taken by itself.
//
// In: a pod. Out: the same pod with the status that a kubelet would write, as it replaces the containers whose image
// has changed in the spec (k8s.io/kubernetes, pkg/kubelet/kuberuntime, computePodActions): the old container is killed,
// the image pulled, a new container created, started, and found ready. Every function changes the pod that it is given
// and returns it.
package fakekubelet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// T0 is when the pods of tests came up.
var T0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Names are the containers of New, in their order.
var Names = []string{"app", "side", "third"}

// New is a running pod of the namespace shop with a container per image.
func New(name string, images ...string) *corev1.Pod {
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Generation: 1, Labels: map[string]string{"app": "web"},
			CreationTimestamp: metav1.NewTime(T0.Add(-10 * time.Minute)),
		},
	}
	for i, image := range images {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: Names[i], Image: image})
	}
	return Settle(pod)
}

// ImageID returns the imageID in the status of a container of the image.
func ImageID(image string) string { return "registry.example/any@" + Digest(image) }

// Digest is a digest that is the image's own.
func Digest(image string) string {
	hex := fmt.Sprintf("%x", image)
	for len(hex) < 64 {
		hex += hex
	}
	return "sha256:" + hex[:64]
}

// Settle takes the kubelet to its end: every container runs its image and is ready.
func Settle(pod *corev1.Pod) *corev1.Pod {
	for _, c := range pod.Spec.Containers {
		if s := Status(pod, c.Name); s.Image != c.Image || s.State.Running == nil {
			Start(pod, c.Name)
		}
		Status(pod, c.Name).Ready = true
	}
	pod.Status.Phase = corev1.PodRunning
	condition(pod, corev1.PodInitialized, true)
	return Observe(pod)
}

// Kill ends a container: it waits for its image.
func Kill(pod *corev1.Pod, name string) *corev1.Pod {
	s := Status(pod, name)
	s.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 137, Reason: "Error", ContainerID: s.ContainerID,
	}}
	s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	s.Ready = false
	return Observe(pod)
}

// Wait has a killed container wait for a reason, such as ImagePullBackOff.
func Wait(pod *corev1.Pod, name, reason, message string) *corev1.Pod {
	Kill(pod, name)
	Status(pod, name).State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	return pod
}

// Start starts a new container by the image of the spec, which isn't ready yet. The one before, if any, is over.
func Start(pod *corev1.Pod, name string) *corev1.Pod {
	s := Status(pod, name)
	if s.State.Running != nil {
		Kill(pod, name)
		s = Status(pod, name)
	}
	if s.ContainerID != "" {
		s.RestartCount++
	}
	for _, c := range pod.Spec.Containers {
		if c.Name == name {
			s.Image, s.ImageID = c.Image, ImageID(c.Image)
			s.Resources = c.Resources.DeepCopy()
		}
	}
	s.ContainerID = fmt.Sprintf("containerd://%s-%s-%d", pod.Name, name, s.RestartCount)
	s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(T0)}}
	s.Ready = false
	return Observe(pod)
}

// Observe has the status be of the pod's generation, and the conditions of its containers.
func Observe(pod *corev1.Pod) *corev1.Pod {
	pod.Status.ObservedGeneration = pod.Generation
	ready := len(pod.Spec.Containers) > 0
	for i := range pod.Status.ContainerStatuses {
		ready = ready && pod.Status.ContainerStatuses[i].Ready
	}
	condition(pod, corev1.ContainersReady, ready)
	condition(pod, corev1.PodReady, ready)
	return pod
}

// Status is a container's status in the pod, made if there is none.
func Status(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == name {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: name})
	return &pod.Status.ContainerStatuses[len(pod.Status.ContainerStatuses)-1]
}

func condition(pod *corev1.Pod, of corev1.PodConditionType, is bool) {
	value := corev1.ConditionFalse
	if is {
		value = corev1.ConditionTrue
	}
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == of {
			pod.Status.Conditions[i].Status = value
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: of, Status: value, LastTransitionTime: metav1.NewTime(T0),
	})
}
