package tables

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/utils/ptr"
)

// defaultMark follows the name of a class that is its cluster's default.
const defaultMark = " (default)"

// priorityClasses has a last column that isn't wide, though its cell comes with the wide ones.
func priorityClasses() *Printer {
	class := schedulingv1.PriorityClass{}
	return typed(func(c *schedulingv1.PriorityClass, now time.Time) []any {
		return []any{
			c.Name, int64(c.Value), c.GlobalDefault, since(c.CreationTimestamp, now),
			string(ptr.Deref(c.PreemptionPolicy, corev1.PreemptLowerPriority)),
		}
	},
		nameColumn(),
		integer("Value", doc(class, "value")),
		boolean("Global-Default", doc(class, "globalDefault")),
		ageColumn(),
		text("PreemptionPolicy", doc(class, "preemptionPolicy")),
	)
}

func runtimeClasses() *Printer {
	return typed(func(c *nodev1.RuntimeClass, now time.Time) []any {
		return []any{c.Name, c.Handler, since(c.CreationTimestamp, now)}
	}, nameColumn(), text("Handler", ""), ageColumn())
}
