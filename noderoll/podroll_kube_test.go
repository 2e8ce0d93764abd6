package noderoll_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/nodesim/nodesim/noderoll"
)

// rolledPod is a Pod as an API server has it.
func rolledPod(name, image, id string, ready bool) *corev1.Pod {
	p := kubePod(name, "ip-1")
	p.Labels = map[string]string{"app": "web"}
	p.Spec.Containers = []corev1.Container{{Name: "web", Image: image}}
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, Reason: "R"}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "web", Image: image, ContainerID: id, Ready: ready, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
	return p
}

func updatePod(t *testing.T, c *fake.Clientset, p *corev1.Pod) {
	t.Helper()
	if err := c.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), p, p.Namespace); err != nil {
		t.Fatal(err)
	}
}

// phaseOf is where a pod stands; empty for none.
func phaseOf(s noderoll.Snapshot, name string) noderoll.PodPhase {
	for _, v := range s.Pods {
		if v.Name == name {
			return v.Phase
		}
	}
	return ""
}

// podRollOf plays an update and a restart of one of two pods.
func podRollOf(t *testing.T, c *fake.Clientset, see func(step string, want noderoll.PodPhase) noderoll.Snapshot) {
	see("at rest", noderoll.PodReady)
	updatePod(t, c, rolledPod("web-0", imageB, "1", true))
	s := see("the spec changes", noderoll.PodUpdating)
	if s.PodTarget != imageB || s.PodCounts.OffTarget != 1 || s.PodCounts.Total != 2 {
		t.Errorf("towards %q, %+v: want %s, and one of two off target", s.PodTarget, s.PodCounts, imageB)
	}
	updatePod(t, c, rolledPod("web-0", imageB, "2", false))
	see("another container starts", noderoll.PodUpdating)
	updatePod(t, c, rolledPod("web-0", imageB, "2", true))
	see("and is Ready", noderoll.PodReady)
	updatePod(t, c, rolledPod("web-0", imageB, "3", true))
	see("and is replaced", noderoll.PodRestarted)
	if err := c.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "shop", "web-0"); err != nil {
		t.Fatal(err)
	}
	if s := see("it is gone", ""); s.PodCounts.Total != 1 {
		t.Errorf("%d pods are left, want 1", s.PodCounts.Total)
	}
}

func podRollObjects() []runtime.Object {
	return []runtime.Object{kubeNode("ip-1", oldImage, true), rolledPod("web-0", imageA, "1", true), rolledPod("web-1", imageA, "1", true), kubePod("db-0", "ip-1")}
}

// Each Snapshot lists, and remembers what the ones before have seen.
func TestKubeObserverPodRollByList(t *testing.T) {
	c := fake.NewSimpleClientset(podRollObjects()...)
	o := noderoll.NewKubeObserverWithOptions(c, noderoll.KubeOptions{StateOptions: noderoll.StateOptions{Pods: podScope(t)}})
	podRollOf(t, c, func(step string, want noderoll.PodPhase) noderoll.Snapshot {
		s := look(t, o)
		if got := phaseOf(s, "web-0"); got != want {
			t.Fatalf("%s: web-0 is %q, want %q", step, got, want)
		}
		return s
	})
}

// So do watches, which continue from what a list has seen.
func TestKubeObserverPodRollByWatch(t *testing.T) {
	c := fake.NewSimpleClientset(podRollObjects()...)
	o := noderoll.NewKubeObserverWithOptions(c, noderoll.KubeOptions{StateOptions: noderoll.StateOptions{Pods: podScope(t)}})
	look(t, o)
	if err := o.StartInformers(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer o.StopInformers()
	podRollOf(t, c, func(step string, want noderoll.PodPhase) noderoll.Snapshot {
		return eventually(t, o, step, func(s noderoll.Snapshot) bool { return phaseOf(s, "web-0") == want })
	})
}
