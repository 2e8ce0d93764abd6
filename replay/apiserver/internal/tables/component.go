package tables

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

func componentStatuses() *Printer {
	return typed(componentStatusCells,
		nameColumn(),
		text("Status", "Status of the component conditions"),
		text("Message", "Message of the component conditions"),
		text("Error", "Error of the component conditions"),
	)
}

// componentStatusCells goes by the first condition that tells of health.
func componentStatusCells(c *corev1.ComponentStatus, _ time.Time) []any {
	for _, condition := range c.Conditions {
		if condition.Type != corev1.ComponentHealthy {
			continue
		}
		status := "Unhealthy"
		if condition.Status == corev1.ConditionTrue {
			status = "Healthy"
		}
		return []any{c.Name, status, condition.Message, condition.Error}
	}
	return []any{c.Name, "Unknown", "", ""}
}
