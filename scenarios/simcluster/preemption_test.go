package simcluster_test

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A further resource of a node is kept for the pod that preempts two others there: when the first of them has gone, the pod that
// takes its place in the ReplicaSet waits.
func TestAFurtherResourceIsKeptForWhoPreempts(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx, pods := t.Context(), f.k.CoreV1().Pods("default")
		nodes, err := f.k.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		node := nodes.Items[0].Name
		for name, value := range map[string]int32{"low": 1, "high": 2} {
			if _, err := f.k.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		const ten = `{"status":{"capacity":{"example.com/disk":"10"},"allocatable":{"example.com/disk":"10"}}}`
		if _, err := f.k.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(ten), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
		asking := func(class, disks string) corev1.PodTemplateSpec {
			p := template(class)
			p.Spec.PriorityClassName = class
			p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: nodes.Items[0].Labels[corev1.LabelHostname]}
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: quantities("example.com/disk", disks), Limits: quantities("example.com/disk", disks)}
			return p
		}
		two := int32(2)
		if _, err := f.k.AppsV1().ReplicaSets("default").Create(ctx, &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "low"},
			Spec:       appsv1.ReplicaSetSpec{Replicas: &two, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "low"}}, Template: asking("low", "4")},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		running := func(label string, n int) func() bool {
			return func() bool {
				l, err := pods.List(ctx, metav1.ListOptions{LabelSelector: label})
				if err != nil {
					t.Fatal(err)
				}
				return len(l.Items) == n && !slices.ContainsFunc(l.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning })
			}
		}
		f.c.Eventually(5*time.Minute, "two pods of low that run", running("app=low", 2))
		high := asking("high", "8")
		if _, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "high", Labels: high.Labels}, Spec: high.Spec}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.c.Eventually(5*time.Minute, "high to run", running("app=high", 1))
		l, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "app=low"})
		if err != nil || len(l.Items) != 2 || l.Items[0].Spec.NodeName+l.Items[1].Spec.NodeName != "" {
			t.Errorf("%v: found %+v, want two pods of low, without a node", err, l.Items)
		}
	})
}
