package podupdate

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// The reasons of a resize beside those of an update.
const (
	// ReasonDeferred and ReasonInfeasible are the kubelet's on the condition PodResizePending: the node has no room for
	// it now, or never will.
	ReasonDeferred   = corev1.PodReasonDeferred
	ReasonInfeasible = corev1.PodReasonInfeasible
	// ReasonRefused is a resize that the API server refuses.
	ReasonRefused = "Refused"
	// ReasonResizeInProgress is the condition PodResizeInProgress without a reason.
	ReasonResizeInProgress = "ResizeInProgress"
	// ReasonResourcesDiffer is a container that the kubelet reports with other resources than its spec's.
	ReasonResourcesDiffer = "ResourcesDiffer"
)

// ResizeProgress is how far the kubelet has brought a pod's resources to those of its spec. It reads the conditions
// PodResizePending and PodResizeInProgress and status.containerStatuses[].resources (Kubernetes 1.33 and later), and is
// Done where nothing differs, also for a pod that was never resized. Failed is what the kubelet calls infeasible; a
// resize that is deferred, or failed and is tried again, is InProgress.
func ResizeProgress(pod *corev1.Pod) Progress {
	if pod == nil {
		return Progress{State: None}
	}
	if pod.DeletionTimestamp != nil {
		return Progress{State: Failed, Reason: ReasonPodDeleting, Message: "the pod is being deleted"}
	}
	if p := pod.Status.Phase; p == corev1.PodFailed || p == corev1.PodSucceeded {
		return Progress{State: Failed, Reason: ReasonPodEnded, Message: "the pod is " + string(p)}
	}
	if seen := pod.Status.ObservedGeneration; seen != 0 && seen < pod.Generation {
		return waits(ReasonNotObserved, "", fmt.Sprintf("the status is of generation %d: want %d", seen, pod.Generation))
	}
	if c := condition(pod, corev1.PodResizePending); c != nil {
		p := waits(cmp.Or(c.Reason, string(c.Type)), "", cmp.Or(line(c.Message), "the kubelet has not accepted the resources"))
		if c.Reason == ReasonInfeasible {
			p.State = Failed
		}
		return p
	}
	if c := condition(pod, corev1.PodResizeInProgress); c != nil {
		return waits(cmp.Or(c.Reason, ReasonResizeInProgress), "", cmp.Or(line(c.Message), "the kubelet is changing the resources"))
	}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if endsBeforeOthers(pod, list[i].Name) {
				continue
			}
			if p := resized(&list[i], ContainerStatus(pod, list[i].Name)); p.State != Done {
				return p
			}
		}
	}
	return Progress{State: Done}
}

// resized is how far one container has come. One that doesn't run has no resources to differ: it will start with those of
// its spec.
func resized(c *corev1.Container, s *corev1.ContainerStatus) Progress {
	switch {
	case s == nil || s.State.Running == nil:
		return Progress{State: Done}
	case s.Resources == nil && len(c.Resources.Requests)+len(c.Resources.Limits) > 0:
		return waits(ReasonNoStatus, c.Name, "the kubelet reports no resources of the container")
	case s.Resources == nil:
		return Progress{State: Done}
	case !holds(*s.Resources, cpuAndMemory(c.Resources)):
		return waits(ReasonResourcesDiffer, c.Name, "the container has other resources than its spec")
	}
	return Progress{State: Done}
}

func cpuAndMemory(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	only := func(list corev1.ResourceList) corev1.ResourceList {
		kept := corev1.ResourceList{}
		for _, of := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if quantity, ok := list[of]; ok {
				kept[of] = quantity
			}
		}
		return kept
	}
	return corev1.ResourceRequirements{Requests: only(r.Requests), Limits: only(r.Limits)}
}

// condition is a condition that is true, else nil.
func condition(pod *corev1.Pod, of corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == of && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}
