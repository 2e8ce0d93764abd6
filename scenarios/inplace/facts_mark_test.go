package inplace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

var nothing = imageresolver.Recorded{}

func TestMarkAStart(t *testing.T) {
	pod := aPod("idle", "app:1", "side:1")
	c := server(pod)
	triggered, err := inplace.TriggerUpdateWithOptions(t.Context(), c, pod, inplace.UpdateOptions{ContainerImages: map[string]string{"app": "app:2"}})
	if err != nil {
		t.Fatal(err)
	}
	early, err := inplace.MarkUpdateCompleted(t.Context(), c, nil, triggered, nothing)
	if err != nil || early.ResourceVersion != triggered.ResourceVersion {
		t.Fatalf("marked before it was done: %v", err)
	}
	kubelet(t, c, pod)
	got, err := inplace.MarkUpdateCompleted(t.Context(), c, nil, triggered, nothing)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored(t, c, pod), got); diff != "" {
		t.Error(diff)
	}
	s := state(t, got)
	if got.Labels[phaseLabel] != "running" || s.Phase != "completed" || len(s.LastContainerStatuses) != 0 || got.Annotations[prefix+"started-at"] == "" {
		t.Errorf("%v %+v", got.Labels, s)
	}
	want := map[string]inplace.StableContainerStatus{"app": {ContainerID: "containerd://box-1-app-1", RestartCount: 1}}
	if diff := cmp.Diff(want, s.StableContainerStatuses); diff != "" {
		t.Error(diff)
	}
}

func TestMarkAStop(t *testing.T) {
	pod := aPod("running", "app:1")
	pod.Labels[prefix+"sandbox-id"] = "s-1"
	pod.Annotations = map[string]string{"mine": "1"}
	for _, key := range []string{
		"sandbox-id", "claimed-at", "started-at", "sandbox-metadata", "stop-reason", "terminated-at", "failure-reason",
		"failure-message", "exit-code", "running-images", "container-id", "post-start-hooks",
	} {
		pod.Annotations[prefix+key] = "x"
	}
	c := server(pod)
	stop := inplace.UpdateOptions{ContainerImages: map[string]string{"app": "idle:1"}, UpdatePodPhase: "stopping", TargetPodPhase: "idle"}
	stopping, err := inplace.TriggerUpdateWithOptions(t.Context(), c, pod, stop)
	if err != nil {
		t.Fatal(err)
	}
	if stopping.Labels[prefix+"sandbox-id"] != "s-1" || stopping.Labels[phaseLabel] != "stopping" {
		t.Fatal(stopping.Labels)
	}
	kubelet(t, c, pod)
	got, err := inplace.MarkUpdateCompleted(t.Context(), c, nil, stopping, nothing)
	if err != nil {
		t.Fatal(err)
	}
	s := state(t, got)
	delete(got.Annotations, stateKey)
	if diff := cmp.Diff(map[string]string{"mine": "1"}, got.Annotations); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"app": "web", phaseLabel: "idle"}, got.Labels); diff != "" {
		t.Error(diff)
	}
	if s.Phase != "completed" || s.StableContainerStatuses != nil {
		t.Errorf("%+v", s)
	}
}

func TestAStaleMarkWritesNothing(t *testing.T) {
	live := aPod("running", "app:2")
	live = withState(t, live, inplace.InplaceUpdateState{
		Phase: "completed", TargetPodPhase: "running", TargetImages: map[string]string{"app": "app:2"},
		StableContainerStatuses: map[string]inplace.StableContainerStatus{"app": {ContainerID: "containerd://new"}},
	})
	c := server(live)
	before := stored(t, c, live)
	stale := aPod("starting", "app:2")
	got, err := inplace.MarkUpdateCompleted(t.Context(), c, nil, stale, nothing)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, got); diff != "" {
		t.Error(diff)
	}
	if after := stored(t, c, live); after.ResourceVersion != before.ResourceVersion || state(t, after).StableContainerStatuses["app"].ContainerID != "containerd://new" {
		t.Error(after.Annotations)
	}
}

func TestMarkWithoutAnUpdate(t *testing.T) {
	pod := aPod("idle", "app:1")
	if got, err := inplace.MarkUpdateCompleted(t.Context(), server(pod), nil, pod, nothing); got != nil || err != nil {
		t.Errorf("no state: %v, %v", got, err)
	}
	broken := withAnnotation(aPod("starting", "app:1"), "{")
	got, err := inplace.MarkUpdateCompleted(t.Context(), server(broken), nil, broken, nothing)
	if got != nil {
		t.Error("a pod beside an error")
	}
	wantError(t, err, podupdate.ErrBrokenState)
	_, err = inplace.MarkUpdateCompleted(t.Context(), server(), nil, nil, nothing)
	wantError(t, err, podupdate.ErrNoPod)
}

func TestMarkLooksAtTheLivePhase(t *testing.T) {
	var k podupdate.Keys
	pod, _, err := k.Apply(aPod("idle", "app:1"), inplace.UpdateOptions{ContainerImages: map[string]string{"app": "app:2"}}, t0)
	if err != nil {
		t.Fatal(err)
	}
	c := server(fakekubelet.Settle(pod))
	seen := aPod("stopping", "app:2")
	u := podupdate.Updater{Pods: inplace.Pods(c, nil)}
	m, err := u.Mark(t.Context(), seen)
	if err != nil || m.Written || m.Progress.State != podupdate.Done {
		t.Fatalf("%+v, %v", m, err)
	}
	if m, err = u.Mark(t.Context(), stored(t, c, pod)); err != nil || !m.Written || m.Pod.Labels[phaseLabel] != "running" {
		t.Fatalf("%+v, %v", m, err)
	}
}
