//go:build controlplane

package inplace_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
)

func requesting(cpu, memory string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources.Requests = list(cpu, memory) }
}

// allocate has the kubelet give the containers the resources of their spec.
func allocate(pod *corev1.Pod) *corev1.Pod {
	for _, c := range pod.Spec.Containers {
		fakekubelet.Status(pod, c.Name).Resources = c.Resources.DeepCopy()
	}
	return fakekubelet.Observe(pod)
}

func TestARealPodIsResized(t *testing.T) {
	c := newCluster(t)
	u := podupdate.Updater{Pods: inplace.Pods(c.client, nil)}
	pod := c.create("box-1", requesting("200m", "256Mi"), "app:1")
	id := fakekubelet.Status(pod, "app").ContainerID
	got, err := inplace.TriggerResize(t.Context(), c.client, pod, want("400m", "512Mi"))
	if err != nil {
		t.Fatal(err)
	}
	if r := got.Spec.Containers[0].Resources.Requests; r.Cpu().String() != "400m" || r.Memory().String() != "512Mi" || got.Generation != pod.Generation+1 {
		t.Fatal(r, got.Generation)
	}
	if m, err := u.MarkResize(t.Context(), got); err != nil || m.Written || m.Progress.Reason != podupdate.ReasonNotObserved {
		t.Fatalf("%+v, %v", m, err)
	}
	c.kubelet("box-1", func(pod *corev1.Pod) *corev1.Pod {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonDeferred, Message: "no room",
		})
		return fakekubelet.Observe(pod)
	})
	if m, err := u.MarkResize(t.Context(), got); err != nil || m.Progress.Reason != podupdate.ReasonDeferred {
		t.Fatalf("%+v, %v", m, err)
	}
	again, err := u.Resize(t.Context(), got, want("400m", "512Mi"))
	if err != nil || again.Generation != got.Generation {
		t.Error("the same resize again changes nothing:", again, err)
	}
	back, err := u.RollbackResize(t.Context(), got, podupdate.Progress{Reason: podupdate.ReasonDeferred})
	if err != nil || back.Spec.Containers[0].Resources.Requests.Cpu().String() != "200m" {
		t.Fatal(back, err)
	}
	c.kubelet("box-1", func(pod *corev1.Pod) *corev1.Pod {
		pod.Status.Conditions = pod.Status.Conditions[:len(pod.Status.Conditions)-1]
		return allocate(pod)
	})
	m, err := u.MarkResize(t.Context(), back)
	if err != nil || !m.Written || fakekubelet.Status(m.Pod, "app").ContainerID != id {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestWhatTheServerRefusesIsRefusedBefore(t *testing.T) {
	c := newCluster(t)
	pod := c.create("box-1", nil, "app:1")
	_, err := inplace.TriggerResize(t.Context(), c.client, pod, want("400m", ""))
	wantError(t, err, podupdate.ErrQOSChange)
	pod.Spec.Containers[0].Resources.Requests = list("400m", "")
	if err := c.client.SubResource("resize").Update(t.Context(), pod); !apierrors.IsInvalid(err) {
		t.Error("the server takes what is refused here:", err)
	}
	if live := c.get("box-1"); len(live.Annotations) != 0 {
		t.Error("an intention was written:", live.Annotations)
	}
}

// A server of Kubernetes 1.36 admits no resize beyond what the node can allocate.
func TestAResizeThatTheServerRefusesIsMarkedAsFailed(t *testing.T) {
	c := newCluster(t)
	u := podupdate.Updater{Pods: inplace.Pods(c.client, nil)}
	pod := c.create("box-1", requesting("200m", "256Mi"), "app:1")
	got, err := u.Resize(t.Context(), pod, want("64", ""))
	if !apierrors.IsForbidden(err) || got != nil {
		t.Fatal(got, err)
	}
	s, err := podupdate.Keys{}.ReadResize(c.get("box-1"))
	if err != nil || s.Phase != podupdate.InplaceUpdatePhaseFailed || s.Reason != podupdate.ReasonRefused {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := u.Resize(t.Context(), pod, want("1", "")); err != nil {
		t.Error("a smaller one isn't hindered by that:", err)
	}
}

func TestARollOfResources(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		c.create(name, requesting("200m", "256Mi"), "web:1")
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, errors.New("the roll takes too long"))
	defer cancel()
	wake := make(chan struct{}, 1)
	r := &roller.Roller{
		Pods: inplace.Pods(c.client, nil), Namespace: c.namespace, Selector: labels.SelectorFromSet(labels.Set{"app": "web"}), Wake: wake,
		Roll: roller.Roll{Resources: want("400m", "512Mi")},
		OnAction: func(a roller.Action, err error) {
			if err != nil {
				t.Errorf("%s: %v", a, err)
			}
			if a.Kind == roller.Trigger {
				c.kubelet(a.Pod, allocate)
			}
			select {
			case wake <- struct{}{}:
			default:
			}
		},
	}
	d, err := r.Run(ctx)
	if err != nil || d.Standing != roller.Finished || d.Counts.Updated != 3 {
		t.Fatal(d, err)
	}
	if s := fakekubelet.Status(c.get("web-2"), "app"); s.RestartCount != 0 || s.Resources.Requests.Cpu().String() != "400m" {
		t.Errorf("%+v", s)
	}
}
