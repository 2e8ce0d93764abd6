package controller

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kubeletConditions are the condition types that a kubelet owns (k8s.io/kubernetes, pkg/kubelet/types/pod_status.go,
// PodConditionsByKubelet and PodConditionByKubelet).
var kubeletConditions = []corev1.PodConditionType{
	corev1.PodScheduled, corev1.PodReady, corev1.PodInitialized, corev1.ContainersReady, corev1.PodResizeInProgress,
	corev1.PodResizePending, corev1.PodReadyToStartContainers, corev1.AllContainersRestarting,
}

// mergePodStatus is the status that a pod in the API gets when the provider says said: the provider's, except for what
// others own (k8s.io/kubernetes, pkg/kubelet/status/status_manager.go, mergePodStatus).
//
//   - Conditions of a kubelet's types, and of those in also, are the provider's: what it leaves out disappears, except
//     PodScheduled, which the scheduler wrote. All others (readiness gates, DisruptionTarget of an eviction) stay as they
//     are. DisruptionTarget is taken from the provider when the pod ends, as of a kubelet that shuts down.
//   - A condition whose status doesn't change keeps its lastTransitionTime; one that changes without a time, or
//     with one from before its last change, gets now.
//   - A pod that has ended is not Ready, nor is one with a readiness gate that isn't True.
//   - Resource claims, the nominated node and the QoS class are the API server's and the scheduler's. A start time and an
//     observed generation that the provider doesn't give stay.
//
// It changes neither argument and shares memory with both.
func mergePodStatus(pod *corev1.Pod, said *corev1.PodStatus, also []corev1.PodConditionType, now metav1.Time) corev1.PodStatus {
	was, merged := &pod.Status, *said
	owned := func(kind corev1.PodConditionType) bool {
		return slices.Contains(kubeletConditions, kind) || slices.Contains(also, kind)
	}
	merged.Conditions = make([]corev1.PodCondition, 0, len(was.Conditions)+len(said.Conditions))
	for _, c := range was.Conditions {
		if !owned(c.Type) || c.Type == corev1.PodScheduled && podCondition(said.Conditions, c.Type) == nil {
			merged.Conditions = append(merged.Conditions, c)
		}
	}
	ends := terminal(said.Phase) && !terminal(was.Phase)
	for _, c := range said.Conditions {
		switch {
		case owned(c.Type):
		case c.Type == corev1.DisruptionTarget && ends:
		default:
			continue
		}
		switch {
		case terminal(said.Phase) && (c.Type == corev1.PodReady || c.Type == corev1.ContainersReady):
			c = notReady(c, said.Phase)
		case c.Type == corev1.PodReady:
			c = gated(c, pod)
		}
		if old := podCondition(was.Conditions, c.Type); old != nil && old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		} else if c.LastTransitionTime.IsZero() || old != nil && c.LastTransitionTime.Before(&old.LastTransitionTime) {
			c.LastTransitionTime = now
		}
		if at := slices.IndexFunc(merged.Conditions, func(m corev1.PodCondition) bool { return m.Type == c.Type }); at >= 0 {
			merged.Conditions[at] = c
		} else {
			merged.Conditions = append(merged.Conditions, c)
		}
	}
	if len(merged.Conditions) == 0 {
		merged.Conditions = nil
	}
	merged.QOSClass = was.QOSClass
	merged.NominatedNodeName = was.NominatedNodeName
	merged.ResourceClaimStatuses = was.ResourceClaimStatuses
	merged.ExtendedResourceClaimStatus = was.ExtendedResourceClaimStatus
	if merged.StartTime == nil {
		merged.StartTime = was.StartTime
	}
	if merged.ObservedGeneration == 0 {
		merged.ObservedGeneration = was.ObservedGeneration
	}
	return merged
}

// notReady is the condition Ready or ContainersReady of a pod that has ended (k8s.io/kubernetes,
// pkg/kubelet/status/generate.go, generatePodReadyConditionForTerminalPhase).
func notReady(c corev1.PodCondition, phase corev1.PodPhase) corev1.PodCondition {
	if c.Status != corev1.ConditionTrue {
		return c
	}
	c.Status, c.Message, c.Reason = corev1.ConditionFalse, "", "PodFailed"
	c.LastTransitionTime = metav1.Time{}
	if phase == corev1.PodSucceeded {
		c.Reason = "PodCompleted"
	}
	return c
}

// gated is the condition Ready of a pod whose readiness gates have their say; they are conditions that others write
// (k8s.io/kubernetes, pkg/kubelet/status/generate.go, GeneratePodReadyCondition).
func gated(c corev1.PodCondition, pod *corev1.Pod) corev1.PodCondition {
	if c.Status != corev1.ConditionTrue {
		return c
	}
	var closed []string
	for _, gate := range pod.Spec.ReadinessGates {
		switch has := podCondition(pod.Status.Conditions, gate.ConditionType); {
		case has == nil:
			closed = append(closed, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		case has.Status != corev1.ConditionTrue:
			closed = append(closed, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", gate.ConditionType, has.Status))
		}
	}
	if len(closed) > 0 {
		c.Status, c.Reason, c.Message = corev1.ConditionFalse, "ReadinessGatesNotReady", strings.Join(closed, ", ")
		c.LastTransitionTime = metav1.Time{}
	}
	return c
}

// podCondition is the first of its type; nil if there is none.
func podCondition(conditions []corev1.PodCondition, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// normalPodStatus is a copy of a status with times of whole seconds, as the API keeps them, so that what comes back from
// there compares equal (k8s.io/kubernetes, pkg/kubelet/status/status_manager.go, normalizeStatus).
func normalPodStatus(status *corev1.PodStatus) corev1.PodStatus {
	normal := *status.DeepCopy()
	if normal.StartTime != nil {
		*normal.StartTime = normal.StartTime.Rfc3339Copy()
	}
	for i := range normal.Conditions {
		c := &normal.Conditions[i]
		c.LastProbeTime, c.LastTransitionTime = c.LastProbeTime.Rfc3339Copy(), c.LastTransitionTime.Rfc3339Copy()
	}
	for _, list := range [][]corev1.ContainerStatus{
		normal.ContainerStatuses, normal.InitContainerStatuses, normal.EphemeralContainerStatuses,
	} {
		for i := range list {
			for _, state := range []*corev1.ContainerState{&list[i].State, &list[i].LastTerminationState} {
				if state.Running != nil {
					state.Running.StartedAt = state.Running.StartedAt.Rfc3339Copy()
				}
				if t := state.Terminated; t != nil {
					t.StartedAt, t.FinishedAt = t.StartedAt.Rfc3339Copy(), t.FinishedAt.Rfc3339Copy()
				}
			}
		}
	}
	return normal
}
