package controller

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
)

// runningPodFixture has one pod, "web", that runs.
func runningPodFixture(t *testing.T, change func(*podConfig)) *podFixture {
	t.Helper()
	s := newPodFixture(t, change).run()
	s.create(aPod("web"))
	s.cached("a running pod", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	s.idle()
	return s
}

// says has the provider change the pod's status message.
func (s *podFixture) says(message string) {
	s.t.Helper()
	if err := s.provider.Change("default", "web", func(p *corev1.Pod) { p.Status.Message = message }); err != nil {
		s.t.Fatal(err)
	}
}

// message is that of the pod's status in the API.
func (s *podFixture) message() string {
	if pod := s.get("web"); pod != nil {
		return pod.Status.Message
	}
	return "gone"
}

var pods = schema.GroupResource{Resource: "pods"}

// answers has the fake API answer the first requests of that verb and subresource with err.
func (s *podFixture) answers(verb, subresource string, times int32, err error) *atomic.Int32 {
	var met atomic.Int32
	s.api.PrependReactor(verb, "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != subresource || met.Add(1) > times {
			return false, nil, nil
		}
		return true, nil, err
	})
	return &met
}

func TestStatusIsWrittenUponTheServersState(t *testing.T) {
	s := runningPodFixture(t, nil)
	var version, uid atomic.Value
	s.api.PrependReactor("update", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() == "status" {
			pod := action.(clienttesting.UpdateAction).GetObject().(*corev1.Pod)
			version.Store(pod.ResourceVersion)
			uid.Store(string(pod.UID))
		}
		return false, nil, nil
	})
	s.edit("web", func(p *corev1.Pod) { p.ResourceVersion = "77" })
	s.cached("the edit", func(p *corev1.Pod) bool { return p.ResourceVersion == "77" })
	s.says("news")
	s.soon("the news", func() bool { return s.message() == "news" })
	if version.Load() != "77" || uid.Load() != "web-uid" {
		t.Errorf("written upon version %v of %v: want 77 of web-uid, the server's", version.Load(), uid.Load())
	}
}

func TestReadinessGatesOpenAndClose(t *testing.T) {
	s := newPodFixture(t, nil).run()
	pod := aPod("web")
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.org/gate"}}
	s.create(pod)
	ready := func(want corev1.ConditionStatus) {
		t.Helper()
		s.cached("Ready "+string(want), func(p *corev1.Pod) bool {
			c := podCondition(p.Status.Conditions, corev1.PodReady)
			return c != nil && c.Status == want
		})
		s.idle()
	}
	gate := func(is corev1.ConditionStatus) {
		t.Helper()
		s.edit("web", func(p *corev1.Pod) {
			if c := podCondition(p.Status.Conditions, "example.org/gate"); c != nil {
				c.Status = is
				return
			}
			p.Status.Conditions = append(p.Status.Conditions, cond("example.org/gate", is, at(1)))
		})
	}
	ready(no)
	gate(yes)
	ready(yes)
	gate(no)
	ready(no)
	gate(yes)
	ready(yes)
}

func TestStatusWriteIsTriedAgain(t *testing.T) {
	for name, err := range map[string]error{
		"conflict":    apierrors.NewConflict(pods, "web", nil),
		"busy server": apierrors.NewTooManyRequests("busy", 1),
		"broken":      apierrors.NewInternalError(context.DeadlineExceeded),
	} {
		t.Run(name, func(t *testing.T) {
			s := runningPodFixture(t, nil)
			met := s.answers("update", "status", 3, err)
			s.says("news")
			s.until("the news", func() bool { return s.message() == "news" })
			if n := met.Load(); n < 4 {
				t.Errorf("%d attempts: want 3 that fail and one that doesn't", n)
			}
		})
	}
}

// Twenty failures end the retries, and the next look at all pods begins again.
func TestStatusThatWasGivenUpIsFoundAgain(t *testing.T) {
	s := runningPodFixture(t, func(cfg *podConfig) { cfg.SyncPodStatusFromProviderRateLimiter = quick() })
	met := s.answers("update", "status", MaxRetries, apierrors.NewInternalError(context.DeadlineExceeded))
	s.says("news")
	s.soon("twenty attempts", func() bool { return met.Load() == MaxRetries })
	s.idle()
	s.clock.Step(DefaultRelookInterval)
	s.soon("the news", func() bool { return s.message() == "news" })
}

func TestPodThatWasGivenUpIsFoundAgain(t *testing.T) {
	s := newPodFixture(t, func(cfg *podConfig) { cfg.SyncPodsFromKubernetesRateLimiter = quick() }).run()
	tries := 0
	s.provider.failing(func(string, *corev1.Pod) error {
		if tries++; tries <= MaxRetries {
			return context.DeadlineExceeded
		}
		return nil
	})
	s.create(aPod("web"))
	s.soon("twenty attempts", func() bool { return s.provider.count("create web") == MaxRetries })
	s.idle()
	s.clock.Step(DefaultRelookInterval)
	s.soon("a running pod", func() bool { return s.phase("web") == corev1.PodRunning })
}

func TestStatusThatSomebodyOverwroteIsWrittenAgain(t *testing.T) {
	s := runningPodFixture(t, nil)
	s.edit("web", func(p *corev1.Pod) { p.Status.Phase, p.Status.Message = corev1.PodUnknown, "somebody else's" })
	s.soon("the provider's status", func() bool { return s.phase("web") == corev1.PodRunning && s.message() == "" })
}

// A pod that the provider can't update says so until it can.
func TestUpdateThatFailsIsInTheStatus(t *testing.T) {
	for _, policy := range []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyNever} {
		s := newPodFixture(t, nil).run()
		pod := aPod("web")
		pod.Spec.RestartPolicy = policy
		s.create(pod)
		s.cached("a running pod", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
		s.idle()
		s.provider.failing(func(call string, _ *corev1.Pod) error {
			if call == "update" {
				return errors.New("no such image")
			}
			return nil
		})
		s.edit("web", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "next" })
		s.until("the failure in the status", func() bool {
			is := s.get("web").Status
			return is.Reason == "ProviderFailed" && is.Message == "no such image" && is.Phase == corev1.PodPending
		})
		s.provider.failing(nil)
		s.until("the provider's status", func() bool {
			is := s.get("web").Status
			return is.Reason == "" && is.Phase == corev1.PodRunning
		})
	}
}

func TestConditionOfOthersIsNotOverwritten(t *testing.T) {
	s := runningPodFixture(t, nil)
	s.edit("web", func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "example.org/gate", Status: yes})
	})
	s.cached("the gate", func(p *corev1.Pod) bool { return podCondition(p.Status.Conditions, "example.org/gate") != nil })
	s.says("news")
	s.soon("the news", func() bool { return s.message() == "news" })
	if gate := podCondition(s.get("web").Status.Conditions, "example.org/gate"); gate == nil || gate.Status != yes {
		t.Errorf("gate %v: want it as its owner wrote it", gate)
	}
}

func TestSameStatusIsNotWrittenTwice(t *testing.T) {
	s := runningPodFixture(t, nil)
	s.says("news")
	s.cached("the news", func(p *corev1.Pod) bool { return p.Status.Message == "news" })
	s.idle()
	met := s.answers("update", "status", 0, nil)
	s.says("news")
	s.controller.Relook(s.ctx)
	s.idle()
	if n := met.Load(); n > 0 {
		t.Errorf("written %d times more: want none", n)
	}
}

// The provider deletes a pod by itself: the API follows, with the provider's grace period while that lasts.
func TestDeletionByTheProviderPropagates(t *testing.T) {
	for name, c := range map[string]struct{ ahead, want int64 }{"ahead": {60, 60}, "over": {-60, 0}} {
		t.Run(name, func(t *testing.T) {
			s := runningPodFixture(t, nil)
			var options atomic.Pointer[metav1.DeleteOptions]
			s.api.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
				given := action.(clienttesting.DeleteActionImpl).DeleteOptions
				options.Store(&given)
				return false, nil, nil
			})
			err := s.provider.Change("default", "web", func(p *corev1.Pod) {
				p.DeletionTimestamp = &metav1.Time{Time: s.clock.Now().Add(time.Duration(c.ahead) * time.Second)}
				p.DeletionGracePeriodSeconds = new(int64(60))
			})
			if err != nil {
				t.Fatal(err)
			}
			s.soon("the deletion", func() bool { return options.Load() != nil })
			given := options.Load()
			if *given.GracePeriodSeconds != c.want || given.Preconditions == nil || *given.Preconditions.UID != "web-uid" {
				t.Errorf("deleted with %v: want grace %d and the pod's UID", given, c.want)
			}
		})
	}
}

func TestRemovalToleratesThatThePodIsGoneOrAnother(t *testing.T) {
	for name, answer := range map[string]error{
		"gone": apierrors.NewNotFound(pods, "web"), "another": apierrors.NewConflict(pods, "web", nil),
	} {
		t.Run(name, func(t *testing.T) {
			s := runningPodFixture(t, nil)
			met := s.answers("delete", "", 1, answer)
			s.edit("web", s.deleted(new(int64(30))))
			s.soon("the removal", func() bool { return met.Load() == 1 })
			s.soon("an idle queue", func() bool { return s.controller.statuses.len() == 0 })
			if record := s.controller.store.read("default/web", "web-uid"); record.uid == "" {
				t.Error("the pod's record is closed, and its object is there")
			}
			s.remove("web")
			s.soon("the end of the pod's record", func() bool {
				return s.controller.store.read("default/web", "web-uid").uid == ""
			})
			s.idle()
		})
	}
}

func TestReportsThatNobodyWants(t *testing.T) {
	s := runningPodFixture(t, nil)
	report := s.controller.reporter(s.ctx)
	met := s.answers("update", "status", 0, nil)
	stranger := aPod("stranger")
	stranger.Status.Phase = corev1.PodRunning
	other := aPod("web")
	other.UID, other.Status.Phase = "an earlier pod of the name", corev1.PodFailed
	for _, pod := range []*corev1.Pod{nil, {}, stranger, other} {
		report(pod)
	}
	s.idle()
	if n := met.Load(); n > 0 {
		t.Errorf("%d statuses written: want none", n)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	own := aPod("web")
	own.Status.Message = "too late"
	s.provider.notify(own)
	if n := s.controller.statuses.len(); n > 0 {
		t.Errorf("%d statuses to write after the end: want none", n)
	}
}

// Before the caches are full nothing is known, and nothing that a provider says is lost.
func TestReportsBeforeTheStartArentLost(t *testing.T) {
	s := newPodFixture(t, nil, aPod("web"))
	if err := s.provider.MockProvider.CreatePod(s.ctx, aPod("web")); err != nil {
		t.Fatal(err)
	}
	s.says("from before")
	s.run()
	s.soon("the status", func() bool { return s.message() == "from before" })
}

// A provider that doesn't know UIDs is understood by name.
func TestReportsWithoutUID(t *testing.T) {
	s := runningPodFixture(t, nil)
	report := s.controller.reporter(s.ctx)
	pod := aPod("web")
	pod.UID, pod.Status.Phase, pod.Status.Message = "", corev1.PodRunning, "by name"
	report(pod)
	s.soon("the status", func() bool { return s.message() == "by name" })
}
