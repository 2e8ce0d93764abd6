package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// bothWays runs a test with a provider that reports by itself and with one that is polled.
func bothWays(t *testing.T, test func(*testing.T, func(*podConfig))) {
	t.Run("notifying", func(t *testing.T) { test(t, func(*podConfig) {}) })
	t.Run("polled", func(t *testing.T) {
		test(t, func(cfg *podConfig) { cfg.Provider = silent{cfg.Provider} })
	})
}

func TestPodIsCreatedRunsAndIsDeleted(t *testing.T) {
	bothWays(t, func(t *testing.T, way func(*podConfig)) {
		s := newPodFixture(t, way).run()
		s.create(aPod("web"))
		s.until("a running pod", func() bool { return s.phase("web") == corev1.PodRunning })
		if ip := s.get("web").Status.PodIP; ip != mockPodIP {
			t.Errorf("pod IP %q: want the provider's, %q", ip, mockPodIP)
		}
		s.edit("web", s.deleted(new(int64(30))))
		s.until("the pod's removal", func() bool { return s.get("web") == nil })
		want := []string{"create web", "delete web"}
		if calls := s.provider.log(); !slices.Equal(calls, want) {
			t.Errorf("calls %q: want %q", calls, want)
		}
		if err := s.stop(); err != nil {
			t.Errorf("Run ended with %v: want nil after a cancel", err)
		}
	})
}

func TestEventsTellOfTheProvider(t *testing.T) {
	s := newPodFixture(t, nil).run()
	s.create(aPod("web"))
	s.soon("a running pod", func() bool { return s.phase("web") == corev1.PodRunning })
	s.edit("web", func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "registry.example/app:2" })
	s.soon("an update", func() bool { return s.provider.count("update web") == 1 })
	s.idle()
	s.edit("web", s.deleted(new(int64(30))))
	s.soon("the pod's removal", func() bool { return s.get("web") == nil })
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	close(s.recorder.Events)
	var reasons []string
	for event := range s.recorder.Events {
		reasons = append(reasons, strings.Join(strings.Fields(event)[:2], " "))
	}
	want := []string{"Normal ProviderCreateSuccess", "Normal ProviderUpdateSuccess", "Normal ProviderDeleteSuccess"}
	if !slices.Equal(reasons, want) {
		t.Errorf("events %q: want %q", reasons, want)
	}
}

func TestEventsCanBeLeftToTheProvider(t *testing.T) {
	s := newPodFixture(t, func(cfg *podConfig) { cfg.SkipProviderEvents = true }).run()
	s.create(aPod("web"))
	s.soon("a running pod", func() bool { return s.phase("web") == corev1.PodRunning })
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if n := len(s.recorder.Events); n > 0 {
		t.Errorf("%d events: want none", n)
	}
}

// A provider that knows nothing of the pod any more is no reason to keep its object.
func TestPodUnknownToTheProviderIsRemoved(t *testing.T) {
	bothWays(t, func(t *testing.T, way func(*podConfig)) {
		s := newPodFixture(t, way).run()
		s.create(aPod("web"))
		s.until("a running pod", func() bool { return s.phase("web") == corev1.PodRunning })
		s.provider.failing(func(call string, _ *corev1.Pod) error {
			if call == "delete" {
				return NotFoundf("no such pod")
			}
			return nil
		})
		s.edit("web", s.deleted(new(int64(1))))
		s.until("the pod's removal", func() bool { return s.get("web") == nil })
	})
}

func TestPodThatCantBeDeletedIsKept(t *testing.T) {
	s := newPodFixture(t, nil).run()
	s.create(aPod("web"))
	s.until("a running pod", func() bool { return s.phase("web") == corev1.PodRunning })
	s.provider.failing(func(call string, _ *corev1.Pod) error {
		if call == "delete" {
			return errors.New("random error")
		}
		return nil
	})
	s.edit("web", s.deleted(new(int64(1))))
	s.until("several attempts", func() bool { return s.provider.count("delete web") >= 2 })
	if pod := s.get("web"); pod == nil || pod.DeletionTimestamp == nil {
		t.Errorf("pod %v: want it kept with its deletionTimestamp", pod)
	}
}

// A provider that takes the deletion and never says that the containers have ended.
func TestDeletedPodLeavesAfterItsGracePeriod(t *testing.T) {
	mute := func(cfg *podConfig) { cfg.Provider = &muteDeletes{cfg.Provider.(*spy)} }
	for name, grace := range map[string]*int64{"of ten seconds": new(int64(10)), "that is not set": nil} {
		t.Run(name, func(t *testing.T) {
			s := newPodFixture(t, mute).run()
			s.create(aPod("web"))
			s.soon("a running pod", func() bool { return s.phase("web") == corev1.PodRunning })
			s.idle()
			s.edit("web", s.deleted(grace))
			s.soon("the deletion at the provider", func() bool { return s.provider.count("delete web") == 1 })
			s.soon("a planned removal", func() bool { return s.controller.removals.len() == 1 })
			wait := gracePeriod(s.get("web")) + DefaultDeletionMargin
			s.clock.Step(wait - 1)
			if s.get("web") == nil {
				t.Fatal("removed before its time")
			}
			s.clock.Step(1)
			s.soon("the pod's removal", func() bool { return s.get("web") == nil })
		})
	}
}

// muteDeletes takes deletions and does nothing about them.
type muteDeletes struct{ *spy }

func (p *muteDeletes) DeletePod(_ context.Context, pod *corev1.Pod) error {
	return p.note("delete", pod)
}

func TestPodThatNeverRanIsRemovedAtOnce(t *testing.T) {
	s := newPodFixture(t, nil, aPod("web"))
	s.edit("web", s.deleted(new(int64(30))))
	s.run()
	s.soon("the pod's removal", func() bool { return s.get("web") == nil })
	if calls := s.provider.log(); slices.Contains(calls, "create web") {
		t.Errorf("calls %q: want no creation", calls)
	}
}

func TestDanglingPodIsDeleted(t *testing.T) {
	bothWays(t, func(t *testing.T, way func(*podConfig)) {
		s := newPodFixture(t, way)
		if err := s.provider.MockProvider.CreatePod(s.ctx, aPod("dangling")); err != nil {
			t.Fatal(err)
		}
		s.provider.failing(func(string, *corev1.Pod) error {
			select {
			case <-s.controller.Ready():
				t.Error("the deletion comes after Ready")
			default:
			}
			return nil
		})
		s.run()
		if calls := s.provider.log(); !slices.Equal(calls, []string{"delete dangling"}) {
			t.Errorf("calls %q when the controller is ready: want the deletion", calls)
		}
		s.idle()
		if calls := s.provider.log(); len(calls) != 1 {
			t.Errorf("calls %q: want one deletion", calls)
		}
	})
}

// The API knows the pod and has it deleted while the controller was away.
func TestDeletedWhileTheControllerWasAway(t *testing.T) {
	s := newPodFixture(t, nil, aPod("web"))
	if err := s.provider.MockProvider.CreatePod(s.ctx, aPod("web")); err != nil {
		t.Fatal(err)
	}
	s.edit("web", func(pod *corev1.Pod) {
		s.deleted(new(int64(30)))(pod)
		running, err := s.provider.GetPodStatus(s.ctx, "default", "web")
		if err != nil {
			t.Fatal(err)
		}
		pod.Status = *running
	})
	s.run()
	s.until("the pod's removal", func() bool { return s.get("web") == nil })
	if n := s.provider.count("delete web"); n != 1 {
		t.Errorf("%d deletions at the provider: want 1", n)
	}
}

func TestEndedPodsAreLeftAlone(t *testing.T) {
	for _, phase := range []corev1.PodPhase{corev1.PodFailed, corev1.PodSucceeded} {
		t.Run(string(phase), func(t *testing.T) {
			pod := aPod("ended")
			pod.Status.Phase = phase
			s := newPodFixture(t, nil, pod).run()
			s.create(aPod("web"))
			s.soon("another pod", func() bool { return s.phase("web") == corev1.PodRunning })
			s.idle()
			if want := []string{"create web"}; !slices.Equal(s.provider.log(), want) {
				t.Errorf("calls %q: want %q", s.provider.log(), want)
			}
			if got := s.phase("ended"); got != phase {
				t.Errorf("phase %s: want %s as before", got, phase)
			}
		})
	}
}

func TestChangesOfARunningPodReachTheProvider(t *testing.T) {
	for what, change := range map[string]func(*corev1.Pod){
		"deadline":  func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(10)) },
		"image":     func(p *corev1.Pod) { p.Spec.Containers[0].Image = "registry.example/app:2" },
		"resources": func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = (&MockProvider{}).Capacity() },
		"label":     func(p *corev1.Pod) { p.Labels["more"] = "yes" },
	} {
		t.Run(what, func(t *testing.T) {
			s := newPodFixture(t, nil).run()
			s.create(aPod("web"))
			s.soon("a running pod", func() bool { return s.phase("web") == corev1.PodRunning })
			s.edit("web", change)
			s.soon("an update", func() bool { return s.provider.count("update web") == 1 })
			s.idle()
			held, err := s.provider.GetPod(s.ctx, "default", "web")
			if err != nil || !podsEqual(held, s.get("web")) {
				t.Errorf("the provider has %v, %v: want the pod as the API shows it", held, err)
			}
		})
	}
}

func TestFilterIsAskedAtEveryEvent(t *testing.T) {
	var asked atomic.Int32
	s := newPodFixture(t, func(cfg *podConfig) {
		cfg.PodEventFilterFunc = func(context.Context, *corev1.Pod) bool { asked.Add(1); return false }
	}).run()
	before := int32(-1)
	for _, step := range []func(){
		func() { s.create(aPod("web")) },
		func() { s.edit("web", func(p *corev1.Pod) { p.Labels["more"] = "yes" }) },
		func() { s.remove("web") },
	} {
		before = asked.Load()
		step()
		s.soon("the filter", func() bool { return asked.Load() > before })
	}
	s.idle()
	if calls := s.provider.log(); len(calls) > 0 {
		t.Errorf("calls %q for a pod that is filtered out: want none", calls)
	}
}

func TestFailedCreationShowsInTheStatus(t *testing.T) {
	for policy, want := range map[corev1.RestartPolicy]corev1.PodPhase{
		corev1.RestartPolicyAlways: corev1.PodPending, corev1.RestartPolicyNever: corev1.PodFailed,
	} {
		t.Run(string(policy), func(t *testing.T) {
			s := newPodFixture(t, nil).run()
			s.provider.failing(func(string, *corev1.Pod) error { return errors.New("no room") })
			pod := aPod("web")
			pod.Spec.RestartPolicy = policy
			s.create(pod)
			s.until("the failure in the status", func() bool { return s.get("web").Status.Reason == "ProviderFailed" })
			if status := s.get("web").Status; status.Phase != want || status.Message != "no room" {
				t.Errorf("status %s %q: want %s, no room", status.Phase, status.Message, want)
			}
			s.until("another attempt", func() bool { return s.provider.count("create web") >= 2 || want == corev1.PodFailed })
		})
	}
}
