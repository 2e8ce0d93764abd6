package tables

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func deployments() *Printer {
	status := appsv1.DeploymentStatus{}
	return typed(deploymentCells,
		nameColumn(),
		text("Ready", "Number of the pod with ready state"),
		text("Up-to-date", doc(status, "updatedReplicas")),
		text("Available", doc(status, "availableReplicas")),
		ageColumn(),
		wide(containersColumn()),
		wide(imagesColumn()),
		wide(text("Selector", doc(appsv1.DeploymentSpec{}, "selector"))),
	)
}

// deploymentCells writes the selector otherwise than the other workloads do: an empty one as nothing at all.
func deploymentCells(d *appsv1.Deployment, now time.Time) []any {
	names, images := containers(&d.Spec.Template)
	selector := "<invalid>"
	if s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector); err == nil {
		selector = s.String()
	}
	return []any{
		d.Name, readyOf(d.Status.ReadyReplicas, d.Spec.Replicas), int64(d.Status.UpdatedReplicas), int64(d.Status.AvailableReplicas),
		since(d.CreationTimestamp, now), names, images, selector,
	}
}

func readyOf(ready int32, desired *int32) string {
	return fmt.Sprintf("%d/%d", ready, ptr.Deref(desired, 1))
}
