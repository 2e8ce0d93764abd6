package podupdate

import (
	corev1 "k8s.io/api/core/v1"
)

// container finds a container or an init container of the spec. The pointer is into the pod.
func container(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

func isEphemeral(pod *corev1.Pod, name string) bool {
	for i := range pod.Spec.EphemeralContainers {
		if pod.Spec.EphemeralContainers[i].Name == name {
			return true
		}
	}
	return false
}

// endsBeforeOthers says whether the container is an init container of the plain kind. The kubelet never runs it again in
// a pod that is initialized, whatever its image becomes; one with restartPolicy Always is a sidecar, which it restarts
// like any container (k8s.io/kubernetes, pkg/kubelet/kuberuntime, computeInitContainerActions).
func endsBeforeOthers(pod *corev1.Pod, name string) bool {
	for _, c := range pod.Spec.InitContainers {
		if c.Name == name {
			return c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways
		}
	}
	return false
}

// ContainerStatus is what the kubelet reports of a container or an init container, nil if nothing. It points into the pod.
func ContainerStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// Ready is the pod's condition Ready if it is true, else nil. It points into the pod.
func Ready(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// last is what a container runs by now.
func last(pod *corev1.Pod, name string) InplaceUpdateContainerStatus {
	if s := ContainerStatus(pod, name); s != nil {
		return InplaceUpdateContainerStatus{ImageID: s.ImageID, ContainerID: s.ContainerID}
	}
	return InplaceUpdateContainerStatus{}
}

// snapshot is what containers run by now. Containers without a status are left out, and so are plain init containers,
// which run no more.
func snapshot[V any](pod *corev1.Pod, containers map[string]V) map[string]StableContainerStatus {
	stable := map[string]StableContainerStatus{}
	for name := range containers {
		if s := ContainerStatus(pod, name); s != nil && !endsBeforeOthers(pod, name) {
			stable[name] = StableContainerStatus{ContainerID: s.ContainerID, RestartCount: s.RestartCount}
		}
	}
	if len(stable) == 0 {
		return nil
	}
	return stable
}

func initialized(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodInitialized {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
