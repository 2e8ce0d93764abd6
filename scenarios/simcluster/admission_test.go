package simcluster_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A pod that a client creates gets its service account's token, its priority and its tolerations.
func TestAPodIsAdmitted(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx, pods, classes := t.Context(), f.k.CoreV1().Pods("default"), f.k.SchedulingV1().PriorityClasses()
		pod := func(class, account string) *corev1.Pod {
			spec := template("x").Spec
			spec.PriorityClassName, spec.ServiceAccountName = class, account
			return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"}, Spec: spec}
		}
		got, err := pods.Create(ctx, pod("", ""), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := got.Spec
		if s.ServiceAccountName != "default" || len(s.Volumes) != 1 || !strings.HasPrefix(s.Volumes[0].Name, "kube-api-access-") || len(s.Volumes[0].Projected.Sources) != 3 {
			t.Errorf("account %q, volumes %+v", s.ServiceAccountName, s.Volumes)
		}
		if m := s.Containers[0].VolumeMounts; len(m) != 1 || m[0].Name != s.Volumes[0].Name || m[0].MountPath != "/var/run/secrets/kubernetes.io/serviceaccount" || !m[0].ReadOnly {
			t.Errorf("mounts %+v", m)
		}
		if s.Priority == nil || *s.Priority != 0 || s.PreemptionPolicy == nil || *s.PreemptionPolicy != corev1.PreemptLowerPriority || len(s.Tolerations) != 2 || *s.Tolerations[1].TolerationSeconds != 300 {
			t.Errorf("priority %v, %v; tolerations %+v", s.Priority, s.PreemptionPolicy, s.Tolerations)
		}
		for _, test := range []struct {
			pod  *corev1.Pod
			want string
		}{
			{pod("urgent", ""), `pods "x-" is forbidden: no PriorityClass with name urgent was found`},
			{pod("", "robot"), `pods "x-" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found`},
		} {
			if _, err := pods.Create(ctx, test.pod, metav1.CreateOptions{}); !apierrors.IsForbidden(err) || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		}
		never := corev1.PreemptNever
		if _, err := classes.Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 7, PreemptionPolicy: &never, GlobalDefault: true}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err = classes.Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Value: 8, GlobalDefault: true}, metav1.CreateOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "PriorityClass urgent is already marked as default. Only one default can exist") {
			t.Errorf("a second default: %v", err)
		}
		if got, err = pods.Create(ctx, pod("", ""), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if got.Spec.PriorityClassName != "urgent" || *got.Spec.Priority != 7 || *got.Spec.PreemptionPolicy != never {
			t.Errorf("by default: %q, %v, %v", got.Spec.PriorityClassName, *got.Spec.Priority, *got.Spec.PreemptionPolicy)
		}
		<-time.After(time.Minute)
		if got, err = pods.Patch(ctx, got.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"priority":null}}`), metav1.PatchOptions{}); err != nil || *got.Spec.Priority != 7 || got.Status.Phase != corev1.PodRunning {
			t.Errorf("a change that says nothing of the priority: %v; the pod is %s", err, got.Status.Phase)
		}
	})
}

// The pods of a Deployment are admitted as others are: a class that isn't there keeps them away until it is.
func TestPodsOfADeploymentAreAdmitted(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx := t.Context()
		replicas, labels := int32(3), map[string]string{"app": "urgent"}
		pods := template("urgent")
		pods.Spec.PriorityClassName = "urgent"
		if _, err := f.k.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "urgent"},
			Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pods},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		list := func() []corev1.Pod {
			t.Helper()
			l, err := f.k.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=urgent"})
			if err != nil {
				t.Fatal(err)
			}
			return l.Items
		}
		<-time.After(time.Minute)
		if n := len(list()); n != 0 {
			t.Errorf("%d pods of a class that isn't there", n)
		}
		if _, err := f.k.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 7}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Minute)
		all := list()
		if len(all) != 3 {
			t.Fatalf("%d pods", len(all))
		}
		for _, p := range all {
			if *p.Spec.Priority != 7 || len(p.Spec.Volumes) != 1 || len(p.Spec.Tolerations) != 2 || p.Spec.Containers[0].Env[0].Value != "fast" {
				t.Errorf("a pod: %+v", p.Spec)
			}
		}
	})
}
