package convert_test

import (
	"testing"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
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

// Negative seconds are treated as 0 (TolerationSeconds of core/v1); none are for ever.
func TestTolerationSeconds(t *testing.T) {
	seconds := func(s int64) *int64 { return &s }
	for _, test := range []struct {
		is   *int64
		want int64
	}{{nil, -1}, {seconds(-1), 0}, {seconds(-300), 0}, {seconds(0), 0}, {seconds(300), 300}} {
		got := convert.TemplateFromAPI(&corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists, TolerationSeconds: test.is}},
		}})
		if s := got.Tolerations[0].Seconds; s != test.want {
			t.Errorf("%v: %d seconds, want %d", test.is, s, test.want)
		}
	}
}

// Kubelets of live runs post the statuses of init containers as well.
func TestPodStatusHasInitContainers(t *testing.T) {
	p := &kube.Pod{
		Template:   &kube.Template{RestartPolicy: "Always"},
		Init:       []kube.Container{{Name: "migrate", State: kube.ContainerState{Kind: "terminated", Reason: "Error", ExitCode: 3}, Restarts: 2}},
		Containers: []kube.Container{{Name: "web", State: kube.ContainerState{Kind: "waiting", Reason: "PodInitializing"}}},
	}
	s := convert.PodStatus(p, convert.Clock{Speed: 1})
	if len(s.InitContainerStatuses) != 1 || len(s.ContainerStatuses) != 1 {
		t.Fatalf("%+v", s)
	}
	if is := s.InitContainerStatuses[0]; is.Name != "migrate" || is.State.Terminated == nil || is.State.Terminated.ExitCode != 3 || is.RestartCount != 2 {
		t.Errorf("%+v", is)
	}
}
