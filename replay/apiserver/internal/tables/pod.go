package tables

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func podRow(pod *corev1.Pod, now time.Time) ([]any, []metav1.TableRowCondition) {
	s := summarize(pod)
	return []any{
		pod.Name, fmt.Sprintf("%d/%d", s.ready, s.containers), s.status, s.restarts.text(now), since(pod.CreationTimestamp, now),
		cmp.Or(podIP(&pod.Status), none), cmp.Or(pod.Spec.NodeName, none), cmp.Or(pod.Status.NominatedNodeName, none), readinessGates(pod),
	}, podConditions(pod.Status.Phase)
}

// podConditions says of the row of a finished pod that it is completed.
func podConditions(phase corev1.PodPhase) []metav1.TableRowCondition {
	completed := metav1.TableRowCondition{Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(phase)}
	switch phase {
	case corev1.PodSucceeded:
		completed.Message = "The pod has completed successfully."
	case corev1.PodFailed:
		completed.Message = "The pod failed."
	default:
		return nil
	}
	return []metav1.TableRowCondition{completed}
}

// podIP is the first of podIPs, unless the older podIP differs: that one then counts
// (pkg/apis/core/v1/conversion.go, Convert_v1_PodStatus_To_core_PodStatus).
func podIP(status *corev1.PodStatus) string {
	if status.PodIP == "" && len(status.PodIPs) > 0 {
		return status.PodIPs[0].IP
	}
	return status.PodIP
}

// readinessGates counts the gates whose condition is true. Of several conditions of one type the first counts.
func readinessGates(pod *corev1.Pod) string {
	if len(pod.Spec.ReadinessGates) == 0 {
		return none
	}
	open := 0
	for _, gate := range pod.Spec.ReadinessGates {
		if conditionStatus(pod, gate.ConditionType) == corev1.ConditionTrue {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, len(pod.Spec.ReadinessGates))
}

// conditionStatus is the status of the first condition of a type, or "".
func conditionStatus(pod *corev1.Pod, of corev1.PodConditionType) corev1.ConditionStatus {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == of {
			return condition.Status
		}
	}
	return ""
}
