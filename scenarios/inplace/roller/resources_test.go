package roller_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/hand"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
)

func cpu(text string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(text)}}
}

// resizing is a world of pods with 200m of cpu, whose server takes resizes as if they were written to the pod itself.
func resizing(t *testing.T, roll roller.Roll, n int) *world {
	t.Helper()
	pods := some(n, "web:1")
	for _, pod := range pods {
		pod.Spec.Containers[0].Resources = cpu("200m")
		hand.Start(pod, "app")
		hand.Settle(pod)
	}
	funcs := interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, _ string, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
		return c.Patch(ctx, obj, patch)
	}}
	return interfered(t, funcs, roll, pods...)
}

// allocate has the kubelet of a pod give it the resources of its spec.
func (w *world) allocate(name string) {
	w.t.Helper()
	w.kubelet(name, func(pod *corev1.Pod) *corev1.Pod {
		hand.Status(pod, "app").Resources = pod.Spec.Containers[0].Resources.DeepCopy()
		return hand.Observe(pod)
	})
}

func TestARollOfResources(t *testing.T) {
	w := resizing(t, roller.Roll{Resources: inplace.Resources{"app": cpu("400m")}}, 2)
	w.pass()
	w.did("trigger shop/web-0: app requests cpu 400m")
	w.pass()
	w.did()
	w.allocate("web-0")
	w.pass()
	w.did("mark shop/web-0")
	w.pass()
	w.did("trigger shop/web-1: app requests cpu 400m")
	w.allocate("web-1")
	w.pass()
	w.did("mark shop/web-1")
	if d := w.pass(); d.Standing != roller.Finished || d.Counts.Updated != 2 {
		t.Fatal(d)
	}
	if s := hand.Status(w.pod("web-1"), "app"); s.RestartCount != 1 {
		t.Errorf("a resize restarts nothing: %d", s.RestartCount)
	}
}

func TestAResizeThatIsDeferredForTooLongGoesBack(t *testing.T) {
	roll := roller.Roll{Resources: inplace.Resources{"app": cpu("400m")}, Deadline: time.Minute, OnFailure: roller.Rollback}
	w := resizing(t, roll, 2)
	w.pass()
	w.kubelet("web-0", func(pod *corev1.Pod) *corev1.Pod {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonDeferred, Message: "no room",
		})
		return pod
	})
	w.clock.Step(61 * time.Second)
	w.pass()
	w.did("trigger shop/web-0: app requests cpu 400m",
		"rollback shop/web-0: DeadlineExceeded: Deferred after 1m1s of 1m0s: no room")
	w.kubelet("web-0", func(pod *corev1.Pod) *corev1.Pod {
		pod.Status.Conditions = pod.Status.Conditions[:len(pod.Status.Conditions)-1]
		return pod
	})
	w.pass()
	w.did("mark shop/web-0")
	d := w.pass()
	if got := w.pod("web-0").Spec.Containers[0].Resources.Requests.Cpu().String(); got != "200m" || d.Standing != roller.Stopped {
		t.Error(got, d)
	}
}

// A Roller that was killed between the intention and the resources is gone on with by the next.
func TestAResizeThatWasCutShort(t *testing.T) {
	w := resizing(t, roller.Roll{Resources: inplace.Resources{"app": cpu("400m")}}, 2)
	next, _, err := inplace.Keys{}.BeginResize(w.pod("web-1"), inplace.Resources{"app": cpu("400m")}, w.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.client.Update(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.did("trigger shop/web-1: SpecDiffers: the spec hasn't the target resources")
	if got := w.pod("web-1").Spec.Containers[0].Resources.Requests.Cpu().String(); got != "400m" {
		t.Error(got)
	}
}
