package tables

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func namespaces() *Printer {
	return typed(func(n *corev1.Namespace, now time.Time) []any {
		return []any{n.Name, cmp.Or(string(n.Status.Phase), string(corev1.NamespaceActive)), since(n.CreationTimestamp, now)}
	}, nameColumn(), text("Status", "The status of the namespace"), ageColumn())
}
