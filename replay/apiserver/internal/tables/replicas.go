package tables

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

func replicationControllers() *Printer {
	spec, status := corev1.ReplicationControllerSpec{}, corev1.ReplicationControllerStatus{}
	return typed(func(rc *corev1.ReplicationController, now time.Time) []any {
		names, images := containers(rc.Spec.Template)
		selector := rc.Spec.Selector
		if len(selector) == 0 && rc.Spec.Template != nil {
			selector = rc.Spec.Template.Labels
		}
		return []any{
			rc.Name, int64(ptr.Deref(rc.Spec.Replicas, 1)), int64(rc.Status.Replicas), int64(rc.Status.ReadyReplicas),
			since(rc.CreationTimestamp, now), names, images, labels.FormatLabels(selector),
		}
	}, replicaColumns(spec, status)...)
}

func replicaSets() *Printer {
	spec, status := appsv1.ReplicaSetSpec{}, appsv1.ReplicaSetStatus{}
	return typed(func(rs *appsv1.ReplicaSet, now time.Time) []any {
		names, images := containers(&rs.Spec.Template)
		return []any{
			rs.Name, int64(ptr.Deref(rs.Spec.Replicas, 1)), int64(rs.Status.Replicas), int64(rs.Status.ReadyReplicas),
			since(rs.CreationTimestamp, now), names, images, metav1.FormatLabelSelector(rs.Spec.Selector),
		}
	}, replicaColumns(spec, status)...)
}

func replicaColumns(spec, status documented) []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		nameColumn(),
		integer("Desired", doc(spec, "replicas")),
		integer("Current", doc(status, "replicas")),
		integer("Ready", doc(status, "readyReplicas")),
		ageColumn(),
		wide(containersColumn()),
		wide(imagesColumn()),
		wide(text("Selector", doc(spec, "selector"))),
	}
}
