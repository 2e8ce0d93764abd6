package convert

import (
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// PodTemplateToAPI is the template of a workload's pods, nil where an object has none. It
// points into the object.
func PodTemplateToAPI(workload runtime.Object) *corev1.PodTemplateSpec {
	switch o := workload.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Template
	case *appsv1.ReplicaSet:
		return &o.Spec.Template
	case *appsv1.StatefulSet:
		return &o.Spec.Template
	case *appsv1.DaemonSet:
		return &o.Spec.Template
	case *batchv1.Job:
		return &o.Spec.Template
	}
	return nil
}

// TemplateFromAPI is what the simulation knows of a template of pods.
func TemplateFromAPI(in *corev1.PodTemplateSpec) *kube.Template {
	return template(&corev1.Pod{ObjectMeta: in.ObjectMeta, Spec: in.Spec})
}

// LabelsFromAPI are labels, or annotations, in the order in which they are written.
func LabelsFromAPI(m map[string]string) kube.Pairs { return pairs(m) }
