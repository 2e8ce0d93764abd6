package tables

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podGroup holds what a row shows of a PodGroup of scheduling.k8s.io/v1alpha2, a version that k8s.io/api doesn't
// have any more.
type podGroup struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		PodGroupTemplateRef *struct {
			Workload struct {
				WorkloadName string `json:"workloadName"`
			} `json:"workload"`
		} `json:"podGroupTemplateRef"`
		SchedulingPolicy struct {
			Gang *json.RawMessage `json:"gang"`
		} `json:"schedulingPolicy"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

func podGroups() *Printer {
	return typed(podGroupCells,
		nameColumn(),
		text("Policy", reworded["v1alpha2.PodGroupSpec.schedulingPolicy"]),
		text("Workload", "Name of the referenced Workload object"),
		text("Status", "Status of the PodGroup"),
		ageColumn(),
	)
}

// podGroupCells goes by the last condition of each type: a disruption gives its reason, before all else.
func podGroupCells(group *podGroup, now time.Time) []any {
	policy, workload, status := "Basic", none, "Pending"
	if group.Spec.SchedulingPolicy.Gang != nil {
		policy = "Gang"
	}
	if ref := group.Spec.PodGroupTemplateRef; ref != nil {
		workload = ref.Workload.WorkloadName
	}
	disruption := (*metav1.Condition)(nil)
	for i, c := range group.Status.Conditions {
		switch {
		case c.Type == "PodGroupScheduled" && c.Status == metav1.ConditionTrue:
			status = "Scheduled"
		case c.Type == "PodGroupScheduled":
			status = "Unschedulable"
		case c.Type == "DisruptionTarget":
			disruption = &group.Status.Conditions[i]
		}
	}
	if disruption != nil {
		status = disruption.Reason
	}
	return []any{group.Name, policy, workload, status, since(group.CreationTimestamp, now)}
}
