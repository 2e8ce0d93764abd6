package tables

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func daemonSets() *Printer {
	status := appsv1.DaemonSetStatus{}
	return typed(daemonSetCells,
		nameColumn(),
		integer("Desired", doc(status, "desiredNumberScheduled")),
		integer("Current", doc(status, "currentNumberScheduled")),
		integer("Ready", doc(status, "numberReady")),
		integer("Up-to-date", doc(status, "updatedNumberScheduled")),
		integer("Available", doc(status, "numberAvailable")),
		text("Node Selector", doc(corev1.PodSpec{}, "nodeSelector")),
		ageColumn(),
		wide(containersColumn()),
		wide(imagesColumn()),
		wide(text("Selector", doc(appsv1.DaemonSetSpec{}, "selector"))),
	)
}

func daemonSetCells(d *appsv1.DaemonSet, now time.Time) []any {
	names, images := containers(&d.Spec.Template)
	return []any{
		d.Name, int64(d.Status.DesiredNumberScheduled), int64(d.Status.CurrentNumberScheduled), int64(d.Status.NumberReady),
		int64(d.Status.UpdatedNumberScheduled), int64(d.Status.NumberAvailable),
		labels.FormatLabels(d.Spec.Template.Spec.NodeSelector), since(d.CreationTimestamp, now),
		names, images, metav1.FormatLabelSelector(d.Spec.Selector),
	}
}
