package tables

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

func statefulSets() *Printer {
	return typed(func(s *appsv1.StatefulSet, now time.Time) []any {
		names, images := containers(&s.Spec.Template)
		return []any{s.Name, readyOf(s.Status.ReadyReplicas, s.Spec.Replicas), since(s.CreationTimestamp, now), names, images}
	},
		nameColumn(),
		text("Ready", "Number of the pod with ready state"),
		ageColumn(),
		wide(containersColumn()),
		wide(imagesColumn()),
	)
}
