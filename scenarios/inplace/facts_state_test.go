package inplace_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

func TestGetInplaceUpdateState(t *testing.T) {
	for name, pod := range map[string]*corev1.Pod{
		"no pod": nil, "no annotations": {}, "an empty one": withAnnotation(aPod("idle", "nginx:1.27"), ""),
	} {
		if s, err := inplace.GetInplaceUpdateState(pod); s != nil || err != nil {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	_, err := inplace.GetPodInPlaceUpdateState(withAnnotation(aPod("idle", "nginx:1.27"), `{"phase":`))
	wantError(t, err, podupdate.ErrBrokenState)
	full := `{"phase":"starting","targetImage":"nginx:1.28","targetPodPhase":"running","updateTimestamp":"2026-03-01T12:00:00Z"}`
	s := state(t, withAnnotation(aPod("idle", "nginx:1.27"), full))
	if s.Phase != "starting" || s.TargetImage != "nginx:1.28" || s.TargetPodPhase != "running" || !s.UpdateTimestamp.Time.Equal(t0) {
		t.Errorf("%+v", s)
	}
}

func TestGetSandboxPhase(t *testing.T) {
	for _, phase := range []string{"idle", "starting", "running", "stopping", "failed"} {
		if got := inplace.GetSandboxPhase(aPod(phase, "a")); got != phase {
			t.Errorf("%s: %s", phase, got)
		}
	}
	failed := aPod("bogus", "a")
	failed.Status.Phase = corev1.PodFailed
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{"no label": {aPod("", "a"), "idle"}, "bogus label": {aPod("bogus", "a"), "idle"}, "failed pod": {failed, "failed"}, "no pod": {nil, "idle"}} {
		if got := inplace.GetSandboxPhase(c.pod); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestGetPodPhaseDuration(t *testing.T) {
	starting := inplace.InplaceUpdateState{Phase: "starting", TargetPodPhase: "running", UpdateTimestamp: ago(2 * time.Minute)}
	completed := inplace.InplaceUpdateState{Phase: "completed", TargetPodPhase: "running", UpdateTimestamp: ago(30 * time.Second)}
	for _, c := range []struct {
		name, phase string
		pod         *corev1.Pod
		want        time.Duration
		in          bool
	}{
		{"starting for two minutes", "starting", withState(t, aPod("starting", "a"), starting), 2 * time.Minute, true},
		{"running for half a minute", "running", withState(t, aPod("running", "a"), completed), 30 * time.Second, true},
		{"the phase that it is in", "", withState(t, aPod("running", "a"), completed), 30 * time.Second, true},
		{"idle since it was created", "idle", aPod("idle", "a"), 10 * time.Minute, true},
		{"idle without a label", "idle", aPod("", "a"), 10 * time.Minute, true},
		{"another phase", "running", aPod("idle", "a"), 0, false},
		{"a state of another phase", "stopping", withState(t, aPod("stopping", "a"), starting), 10 * time.Minute, true},
	} {
		got, in, err := inplace.GetPodPhaseDuration(c.pod, c.phase, t0)
		if err != nil || got != c.want || in != c.in {
			t.Errorf("%s: %s, %v, %v: want %s, %v", c.name, got, in, err, c.want, c.in)
		}
	}
	if got, in, err := inplace.GetPodPhaseDuration(aPod("idle", "a"), "idle", t0.Add(-time.Hour)); got != 0 || !in || err != nil {
		t.Errorf("since in the future: %s, %v, %v", got, in, err)
	}
	if got, in, err := inplace.GetPodPhaseDuration(&corev1.Pod{}, "", time.Time{}); got != 0 || !in || err != nil {
		t.Errorf("never created: %s, %v, %v", got, in, err)
	}
	_, _, err := inplace.GetPodPhaseSince(withAnnotation(aPod("idle", "a"), "{"), "idle")
	wantError(t, err, podupdate.ErrBrokenState)
	_, _, err = inplace.GetPodPhaseSince(nil, "idle")
	wantError(t, err, podupdate.ErrNoPod)
}

func TestHasUnexpectedRestart(t *testing.T) {
	snap := func(id string, count int32) inplace.InplaceUpdateState {
		return inplace.InplaceUpdateState{Phase: "completed", TargetPodPhase: "running",
			StableContainerStatuses: map[string]inplace.StableContainerStatus{"app": {ContainerID: id, RestartCount: count}}}
	}
	pod := func() *corev1.Pod { return aPod("running", "app:1", "side:1") }
	id := fakekubelet.Status(pod(), "app").ContainerID
	other := snap(id, 0)
	other.StableContainerStatuses = map[string]inplace.StableContainerStatus{"gone": {ContainerID: "x"}}
	elsewhere := snap("old", 0)
	elsewhere.TargetPodPhase = "idle"
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want bool
	}{
		{"no state", pod(), false},
		{"no snapshot", withState(t, pod(), inplace.InplaceUpdateState{Phase: "completed", TargetPodPhase: "running"}), false},
		{"equal id", withState(t, pod(), snap(id, 0)), false},
		{"equal id, more restarts", withState(t, pod(), snap(id, 7)), false},
		{"empty id", withState(t, pod(), snap("", 0)), false},
		{"not in the status", withState(t, pod(), other), false},
		{"target idle", withState(t, pod(), elsewhere), false},
		{"broken state", withAnnotation(pod(), "{"), false},
		{"other id", withState(t, pod(), snap("containerd://old", 1)), true},
		{"other id, equal count", withState(t, pod(), snap("containerd://old", 0)), true},
	} {
		if got := inplace.HasUnexpectedRestart(c.pod); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestASidecarMayRestart(t *testing.T) {
	var k podupdate.Keys
	next, _, err := k.Apply(aPod("idle", "app:1", "side:1"), inplace.UpdateOptions{ContainerImages: map[string]string{"app": "app:2"}}, t0)
	if err != nil {
		t.Fatal(err)
	}
	done, _, err := k.Complete(fakekubelet.Settle(next), t0)
	if err != nil {
		t.Fatal(err)
	}
	if name, is := k.UnexpectedRestart(fakekubelet.Start(done.DeepCopy(), "side")); is {
		t.Errorf("%s wasn't updated", name)
	}
	if name, is := k.UnexpectedRestart(fakekubelet.Start(done, "app")); !is || name != "app" {
		t.Errorf("found %q, %v", name, is)
	}
}
