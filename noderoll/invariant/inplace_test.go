package invariant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/noderoll/invariant"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestChangesInPlaceAreJudged changes one pod that runs, step by step, as it may
// be changed and as it may not.
func TestChangesInPlaceAreJudged(t *testing.T) {
	start := metav1.NewTime(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC))
	sound := func() *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1", UID: "u", Generation: 1, ResourceVersion: "1", CreationTimestamp: start}}
		p.Spec.NodeName = "n1"
		p.Spec.Containers = []corev1.Container{{Name: "web", Image: "web:1"}}
		p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &start
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "web", ContainerID: "containerd://1", ImageID: "web@sha256:1",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: start}},
		}}
		return p
	}
	for _, test := range []struct {
		name   string
		change func(p *corev1.Pod, c *corev1.ContainerStatus)
		want   []string
	}{
		{"an image, counted, by a new container", func(p *corev1.Pod, c *corev1.ContainerStatus) {
			p.Generation, p.Spec.Containers[0].Image = 2, "web:2"
			c.ContainerID, c.ImageID, c.RestartCount = "containerd://2", "web@sha256:2", 1
		}, nil},
		{"a resize, counted, of the same container", func(p *corev1.Pod, c *corev1.ContainerStatus) {
			p.Generation = 2
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
		}, nil},
		{"an image before pods counted generations", func(p *corev1.Pod, c *corev1.ContainerStatus) {
			p.Generation, p.Spec.Containers[0].Image = 0, "web:2"
		}, []string{"generation-grows"}},
		{"a container that waits to be started again", func(p *corev1.Pod, c *corev1.ContainerStatus) {
			c.RestartCount, c.State = 1, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		}, nil},
		{"an image in the same container", func(p *corev1.Pod, c *corev1.ContainerStatus) { c.ImageID = "web@sha256:2" }, []string{"restart-renews"}},
		{"a restart of the same container", func(p *corev1.Pod, c *corev1.ContainerStatus) { c.RestartCount = 1 }, []string{"restart-renews"}},
		{"a resize that isn't counted", func(p *corev1.Pod, c *corev1.ContainerStatus) {
			p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"memory": resource.MustParse("1Gi")}
		}, []string{"change-is-counted"}},
		{"another container", func(p *corev1.Pod, c *corev1.ContainerStatus) {
			p.Generation, p.Spec.Containers = 2, append(p.Spec.Containers, corev1.Container{Name: "proxy"})
		}, []string{"containers-kept"}},
		{"another start", func(p *corev1.Pod, c *corev1.ContainerStatus) {
			later := metav1.NewTime(start.Add(time.Second))
			p.Status.StartTime = &later
		}, []string{"pod-starts-once"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := invariant.NewChecker(invariant.CheckOptions{})
			before, after := sound(), sound()
			after.ResourceVersion = "2"
			test.change(after, &after.Status.ContainerStatuses[0])
			found := c.Observe(invariant.Change{Type: invariant.ChangeAdded, Resource: noderoll.Pods, Object: before})
			if len(found) > 0 {
				t.Fatalf("the sound pod: %v", found)
			}
			c.Observe(invariant.Change{At: time.Second, Type: invariant.ChangeSync, Resource: noderoll.Pods})
			var got []string
			for _, v := range c.Observe(invariant.Change{At: 2 * time.Second, Type: invariant.ChangeModified, Resource: noderoll.Pods, Object: after}) {
				got = append(got, v.Invariant)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
