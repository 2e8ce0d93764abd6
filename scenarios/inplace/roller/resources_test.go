package roller_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
)

func cpu(text string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(text)}}
}

// resizing is a fixture of pods with 200m of cpu, whose server takes resizes as if they were written to the pod itself.
func resizing(t *testing.T, roll roller.Roll, n int) *fixture {
	t.Helper()
	return refusing(t, roll, n, func(string) bool { return false })
}

// refusing is the same with a server that refuses the resizes of some pods, by name.
func refusing(t *testing.T, roll roller.Roll, n int, refuses func(pod string) bool) *fixture {
	t.Helper()
	pods := some(n, "web:1")
	for _, pod := range pods {
		pod.Spec.Containers[0].Resources = cpu("200m")
		fakekubelet.Start(pod, "app")
		fakekubelet.Settle(pod)
	}
	funcs := interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, _ string, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
		if refuses(obj.GetName()) {
			return forbidden(obj.GetName())
		}
		return c.Patch(ctx, obj, patch)
	}}
	return interfered(t, funcs, roll, pods...)
}

// allocate has the kubelet of a pod give it the resources of its spec.
func (w *fixture) allocate(name string) {
	w.t.Helper()
	w.kubelet(name, func(pod *corev1.Pod) *corev1.Pod {
		fakekubelet.Status(pod, "app").Resources = pod.Spec.Containers[0].Resources.DeepCopy()
		return fakekubelet.Observe(pod)
	})
}

func TestARollOfResources(t *testing.T) {
	w := resizing(t, roller.Roll{Resources: podupdate.Resources{"app": cpu("400m")}}, 2)
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
	if s := fakekubelet.Status(w.pod("web-1"), "app"); s.RestartCount != 1 {
		t.Errorf("a resize restarts nothing: %d", s.RestartCount)
	}
}

func TestAResizeThatIsDeferredForTooLongGoesBack(t *testing.T) {
	roll := roller.Roll{Resources: podupdate.Resources{"app": cpu("400m")}, Deadline: time.Minute, OnFailure: roller.Rollback}
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

// A Roller that was killed between the intention and the resources is resumed by the next.
func TestAResizeThatWasCutShort(t *testing.T) {
	w := resizing(t, roller.Roll{Resources: podupdate.Resources{"app": cpu("400m")}}, 2)
	next, _, err := podupdate.Keys{}.BeginResize(w.pod("web-1"), podupdate.Resources{"app": cpu("400m")}, w.clock.Now())
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

// A server of Kubernetes 1.36 admits no resize beyond what the pod's node can allocate: that pod has failed, and whether the
// roll has is for its budget to say.
func TestAResizeThatTheServerRefusesIsAFailedPod(t *testing.T) {
	for name, c := range map[string]struct {
		budget   int
		failure  roller.OnFailure
		standing roller.Standing
		updated  int
	}{
		"stop":     {0, roller.Stop, roller.Stopped, 0},
		"take all": {0, roller.RollbackAll, roller.RolledBack, 0},
		"budget":   {1, roller.Stop, roller.Finished, 1},
	} {
		t.Run(name, func(t *testing.T) {
			roll := roller.Roll{Resources: podupdate.Resources{"app": cpu("400m")}, OnFailure: c.failure, FailureBudget: c.budget}
			var w *fixture
			w = refusing(t, roll, 2, func(pod string) bool {
				cpu := w.pod(pod).Spec.Containers[0].Resources.Requests.Cpu().String()
				return pod == "web-0" && cpu == "200m"
			})
			ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, errors.New("the roll takes too long"))
			defer cancel()
			wake := make(chan struct{}, 1)
			tell := w.roller.OnAction
			w.roller.Wake, w.roller.OnError = wake, func(err error) { t.Error(err) }
			w.roller.OnAction = func(a roller.Action, err error) {
				tell(a, err)
				if a.Kind == roller.Trigger && err == nil {
					w.allocate(a.Pod)
				}
			}
			w.roller.OnPass = func(roller.Decision) {
				select {
				case wake <- struct{}{}:
				default:
				}
			}
			d, err := w.roller.Run(ctx)
			if err != nil || d.Standing != c.standing || d.Counts.Updated != c.updated {
				t.Errorf("%v: %s\n%s", err, d, strings.Join(w.told, "\n"))
			}
			s, err := podupdate.Keys{}.ReadResize(w.pod("web-0"))
			if failed := c.failure != roller.RollbackAll; err != nil || failed && (s.Phase != podupdate.InplaceUpdatePhaseFailed || s.Reason != podupdate.ReasonRefused) {
				t.Errorf("the record of the pod: %+v, %v", s, err)
			}
		})
	}
}

// Who may not write the intention may write none at all: no other pass mends that.
func TestAnIntentionThatIsForbiddenEndsTheRoll(t *testing.T) {
	funcs := interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
		return forbidden("web-0")
	}}
	pod := some(1, "web:1")[0]
	pod.Spec.Containers[0].Resources = cpu("200m")
	fakekubelet.Start(pod, "app")
	fakekubelet.Settle(pod)
	w := interfered(t, funcs, roller.Roll{Resources: podupdate.Resources{"app": cpu("400m")}}, pod)
	if d, err := w.roller.Run(t.Context()); !apierrors.IsForbidden(err) || errors.Is(err, podupdate.ErrRefused) {
		t.Error(d, err)
	}
}

func forbidden(pod string) error {
	return apierrors.NewForbidden(corev1.Resource("pods"), pod, errors.New("insufficient cpu"))
}
