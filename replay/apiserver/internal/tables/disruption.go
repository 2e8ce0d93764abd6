package tables

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func disruptionBudgets() *Printer {
	return typed(disruptionBudgetCells,
		nameColumn(),
		text("Min Available", "The minimum number of pods that must be available."),
		text("Max Unavailable", "The maximum number of pods that may be unavailable."),
		integer("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."),
		ageColumn(),
	)
}

func disruptionBudgetCells(budget *policyv1.PodDisruptionBudget, now time.Time) []any {
	return []any{
		budget.Name, limit(budget.Spec.MinAvailable), limit(budget.Spec.MaxUnavailable),
		int64(budget.Status.DisruptionsAllowed), since(budget.CreationTimestamp, now),
	}
}

// limit is a number or a percentage of pods.
func limit(of *intstr.IntOrString) string {
	if of == nil {
		return "N/A"
	}
	return of.String()
}
