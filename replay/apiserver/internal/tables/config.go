package tables

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func configMaps() *Printer {
	return typed(func(c *corev1.ConfigMap, now time.Time) []any {
		return []any{c.Name, int64(len(c.Data) + len(c.BinaryData)), since(c.CreationTimestamp, now)}
	}, nameColumn(), text("Data", doc(corev1.ConfigMap{}, "data")), ageColumn())
}

func secrets() *Printer {
	return typed(func(s *corev1.Secret, now time.Time) []any {
		return []any{s.Name, cmp.Or(string(s.Type), string(corev1.SecretTypeOpaque)), int64(len(s.Data)), since(s.CreationTimestamp, now)}
	}, nameColumn(), text("Type", doc(corev1.Secret{}, "type")), text("Data", doc(corev1.Secret{}, "data")), ageColumn())
}
