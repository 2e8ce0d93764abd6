package inplace_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

func list(cpu, memory string) corev1.ResourceList {
	l := corev1.ResourceList{}
	if cpu != "" {
		l[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		l[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return l
}

func sized(requests, limits corev1.ResourceList) *corev1.Pod {
	pod := aPod("", "app:1")
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
	fakekubelet.Status(pod, "app").Resources = pod.Spec.Containers[0].Resources.DeepCopy()
	return pod
}

func want(cpu, memory string) podupdate.Resources {
	return podupdate.Resources{"app": {Requests: list(cpu, memory)}}
}

func TestApplyResize(t *testing.T) {
	pod := sized(list("200m", "256Mi"), list("", "1Gi"))
	next, changed, err := podupdate.ApplyResize(pod, want("400m", ""))
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	r := next.Spec.Containers[0].Resources
	if r.Requests.Cpu().String() != "400m" || r.Requests.Memory().String() != "256Mi" || r.Limits.Memory().String() != "1Gi" {
		t.Error(r)
	}
	if pod.Spec.Containers[0].Resources.Requests.Cpu().String() != "200m" {
		t.Error("the argument was changed")
	}
	if _, changed, err := podupdate.ApplyResize(next, want("0.4", "262144Ki")); err != nil || changed {
		t.Error("equal quantities change nothing:", changed, err)
	}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		r    podupdate.Resources
		want error
	}{
		"above the limit":      {pod, want("", "2Gi"), podupdate.ErrNotResizable},
		"negative":             {pod, want("-1", ""), podupdate.ErrNotResizable},
		"another resource":     {pod, podupdate.Resources{"app": {Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}, podupdate.ErrNotResizable},
		"no such container":    {pod, podupdate.Resources{"zip": {}}, inplace.ErrContainerNotFound},
		"burstable from none":  {sized(nil, nil), want("100m", ""), podupdate.ErrQOSChange},
		"guaranteed no longer": {sized(list("1", "1Gi"), list("1", "1Gi")), want("500m", ""), podupdate.ErrQOSChange},
		"no pod":               {nil, nil, podupdate.ErrNoPod},
		"no containers":        {aPod(""), want("1", ""), inplace.ErrNoContainers},
	} {
		next, _, err := podupdate.ApplyResize(c.pod, c.r)
		if next != nil {
			t.Errorf("%s: a pod beside an error", name)
		}
		wantError(t, err, c.want)
	}
	both := podupdate.Resources{"app": {Requests: list("2", ""), Limits: list("2", "")}}
	if _, _, err := podupdate.ApplyResize(sized(list("1", "1Gi"), list("1", "1Gi")), both); err != nil {
		t.Error("a guaranteed pod stays one:", err)
	}
}

func TestResizeProgress(t *testing.T) {
	resized := func() *corev1.Pod {
		next, _, err := podupdate.ApplyResize(sized(list("200m", "256Mi"), nil), want("400m", ""))
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	with := func(of corev1.PodConditionType, reason string) *corev1.Pod {
		pod := resized()
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: of, Status: corev1.ConditionTrue, Reason: reason, Message: "why"})
		return pod
	}
	unseen := resized()
	unseen.Generation++
	done := resized()
	fakekubelet.Status(done, "app").Resources = done.Spec.Containers[0].Resources.DeepCopy()
	old := resized()
	fakekubelet.Status(old, "app").Resources = nil
	waiting := fakekubelet.Wait(resized(), "app", "CrashLoopBackOff", "")
	for _, c := range []struct {
		name   string
		pod    *corev1.Pod
		state  podupdate.Outcome
		reason string
	}{
		{"unseen", unseen, podupdate.InProgress, podupdate.ReasonNotObserved},
		{"not begun", resized(), podupdate.InProgress, podupdate.ReasonResourcesDiffer},
		{"deferred", with(corev1.PodResizePending, "Deferred"), podupdate.InProgress, "Deferred"},
		{"infeasible", with(corev1.PodResizePending, "Infeasible"), podupdate.Failed, "Infeasible"},
		{"in progress", with(corev1.PodResizeInProgress, ""), podupdate.InProgress, podupdate.ReasonResizeInProgress},
		{"error", with(corev1.PodResizeInProgress, "Error"), podupdate.InProgress, "Error"},
		{"a kubelet that can't", old, podupdate.InProgress, podupdate.ReasonNoStatus},
		{"done", done, podupdate.Done, ""},
		{"nothing runs", waiting, podupdate.Done, ""},
		{"never resized", sized(list("200m", ""), nil), podupdate.Done, ""},
		{"no resources", aPod("", "app:1"), podupdate.Done, ""},
	} {
		if p := podupdate.ResizeProgress(c.pod); p.State != c.state || p.Reason != c.reason {
			t.Errorf("%s: %v, want %s %s", c.name, p, c.state, c.reason)
		}
	}
}

func TestTheLifeOfAResize(t *testing.T) {
	var k podupdate.Keys
	pod := sized(list("200m", "256Mi"), nil)
	begun, changed, err := k.BeginResize(pod, want("400m", "512Mi"), t0)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	if _, changed, err := k.BeginResize(begun, want("400m", "512Mi"), t0.Add(time.Hour)); changed || err != nil {
		t.Error("an intention is written once:", changed, err)
	}
	if p, _ := k.ResizeProgress(begun, 0, t0); p.Reason != podupdate.ReasonSpecDiffers {
		t.Error("the intention alone:", p)
	}
	next, _, err := podupdate.ApplyResize(begun, want("400m", "512Mi"))
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := k.ResizeProgress(next, time.Minute, t0.Add(2*time.Minute)); p.State != podupdate.Failed || p.Reason != podupdate.ReasonDeadlineExceeded {
		t.Error(p)
	}
	back, changed, err := k.RollbackResize(next, podupdate.Progress{Reason: "Deferred"}, t0)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	s, err := k.ReadResize(back)
	if err != nil || !s.TargetResources.Equal(want("200m", "256Mi")) || !s.RolledBack.Equal(want("400m", "512Mi")) || s.Reason != "Deferred" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, changed, _ := k.RollbackResize(back, podupdate.Progress{}, t0); changed {
		t.Error("a rollback is no change to roll back")
	}
	fakekubelet.Status(next, "app").Resources = next.Spec.Containers[0].Resources.DeepCopy()
	if p, _ := k.ResizeProgress(next, 0, t0); p.State != podupdate.Done {
		t.Error(p)
	}
	done, changed, err := k.CompleteResize(next, t0)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	if _, changed, _ := k.CompleteResize(done, t0); changed {
		t.Error("completed twice")
	}
	if s, _ := k.ReadResize(done); s.Phase != "completed" || !s.FromResources.Equal(want("200m", "256Mi")) {
		t.Errorf("%+v", s)
	}
	_, _, err = k.RollbackResize(pod, podupdate.Progress{}, t0)
	wantError(t, err, podupdate.ErrNothingToRollBack)
}

// A resize that somebody triggers between a plan and its write isn't ended for the reasons of the one before.
func TestAResizeOfSomebodyElseGoesOn(t *testing.T) {
	now := clocktesting.NewFakeClock(t0)
	for name, end := range map[string]func(podupdate.Updater, *corev1.Pod) (*corev1.Pod, error){
		"fail": func(u podupdate.Updater, pod *corev1.Pod) (*corev1.Pod, error) {
			return u.FailResize(t.Context(), pod, podupdate.Progress{Reason: podupdate.ReasonDeadlineExceeded})
		},
		"roll back": func(u podupdate.Updater, pod *corev1.Pod) (*corev1.Pod, error) {
			return u.RollbackResize(t.Context(), pod, podupdate.Progress{Reason: podupdate.ReasonDeadlineExceeded})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := meddled(interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, _ string, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
				return c.Patch(ctx, obj, patch)
			}}, sized(list("200m", ""), nil))
			u := podupdate.Updater{Pods: inplace.Pods(c, nil), Clock: now}
			seen, err := u.Resize(t.Context(), sized(list("200m", ""), nil), want("400m", ""))
			if err != nil {
				t.Fatal(err)
			}
			now.Step(time.Second)
			if _, err := u.Resize(t.Context(), seen, want("300m", "")); err != nil {
				t.Fatal(err)
			}
			live, err := end(u, seen)
			if err != nil {
				t.Fatal(err)
			}
			for _, pod := range []*corev1.Pod{live, stored(t, c, seen)} {
				s, err := podupdate.Keys{}.ReadResize(pod)
				if err != nil || !s.InFlight() || !s.TargetResources.Equal(want("300m", "")) || pod.Spec.Containers[0].Resources.Requests.Cpu().String() != "300m" {
					t.Errorf("%+v, %v, %v", s, pod.Spec.Containers[0].Resources, err)
				}
			}
			now.Step(time.Second)
			live, err = end(u, live)
			if err != nil {
				t.Fatal(err)
			}
			if s, err := (podupdate.Keys{}).ReadResize(stored(t, c, live)); err != nil || s.TargetResources.Equal(want("300m", "")) == s.InFlight() {
				t.Errorf("the one that was seen is ended: %+v, %v", s, err)
			}
		})
	}
}
