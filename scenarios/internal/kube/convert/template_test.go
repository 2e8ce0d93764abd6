package convert_test

import (
	"testing"

	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What is written to the template is in the workload.
func TestPodTemplate(t *testing.T) {
	deployment, replicas, set, daemon, job := &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &batchv1.Job{}
	for _, one := range []struct {
		workload runtime.Object
		own      *corev1.PodTemplateSpec
	}{
		{deployment, &deployment.Spec.Template}, {replicas, &replicas.Spec.Template}, {set, &set.Spec.Template},
		{daemon, &daemon.Spec.Template}, {job, &job.Spec.Template}, {&corev1.Namespace{}, nil},
	} {
		if got := convert.PodTemplateToAPI(one.workload); got != one.own {
			t.Errorf("%T: found %p, want its own template %p", one.workload, got, one.own)
		}
	}
}
