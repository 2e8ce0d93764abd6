package inplace_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

func trigger(t *testing.T, pod *corev1.Pod, opts inplace.UpdateOptions) *corev1.Pod {
	t.Helper()
	c := server(pod)
	got, err := inplace.TriggerUpdateWithOptions(t.Context(), c, pod, opts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored(t, c, pod), got); diff != "" {
		t.Fatalf("returned isn't what is stored:\n%s", diff)
	}
	return got
}

func TestTriggerTwoImages(t *testing.T) {
	pod := aPod("idle", "app:1", "side:1")
	got := trigger(t, pod, inplace.UpdateOptions{
		ContainerImages: map[string]string{"app": "app:2", "side": "side:2"},
		Labels:          map[string]string{"team": "a"}, Annotations: map[string]string{"note": "b"},
	})
	if got.Spec.Containers[0].Image != "app:2" || got.Spec.Containers[1].Image != "side:2" {
		t.Error(got.Spec.Containers)
	}
	if got.Labels[phaseLabel] != "starting" || got.Labels["team"] != "a" || got.Annotations["note"] != "b" {
		t.Error(got.Labels, got.Annotations)
	}
	s := state(t, got)
	want := map[string]inplace.InplaceUpdateContainerStatus{
		"app":  {ImageID: fakekubelet.ImageID("app:1"), ContainerID: "containerd://box-1-app-0"},
		"side": {ImageID: fakekubelet.ImageID("side:1"), ContainerID: "containerd://box-1-side-0"},
	}
	if s.Phase != "starting" || s.TargetPodPhase != "running" || s.TargetImage != "" || len(s.TargetImages) != 2 {
		t.Errorf("%+v", s)
	}
	if diff := cmp.Diff(want, s.LastContainerStatuses); diff != "" {
		t.Error(diff)
	}
	one := state(t, trigger(t, pod, inplace.UpdateOptions{ContainerImages: map[string]string{"app": "app:2", "side": "side:1"}}))
	if one.TargetImage != "app:2" || len(one.LastContainerStatuses) != 1 {
		t.Errorf("one image: %+v", one)
	}
}

func TestTriggerMetadataAlone(t *testing.T) {
	got := trigger(t, aPod("idle", "app:1"), inplace.UpdateOptions{TargetPodPhase: "running", Labels: map[string]string{"team": "a"}})
	if got.Labels[phaseLabel] != "running" || got.Labels["team"] != "a" || got.Annotations[stateKey] != "" {
		t.Error(got.Labels, got.Annotations)
	}
	pod := aPod("running", "app:1")
	pod.Labels["a"], pod.Labels["b"] = "1", "2"
	pod.Annotations = map[string]string{"c": "3"}
	got = trigger(t, pod, inplace.UpdateOptions{
		TargetPodPhase: "idle", Labels: map[string]string{"a": "again"}, RemoveLabels: []string{"a", "b"}, RemoveAnnotations: []string{"c"},
	})
	if len(got.Annotations) != 0 || got.Labels["a"] != "" || got.Labels["b"] != "" || got.Labels[phaseLabel] != "idle" {
		t.Error(got.Labels, got.Annotations)
	}
}

func TestTheShortcut(t *testing.T) {
	for _, image := range []string{"nginx:1.28", "docker.io/library/nginx:1.28", "docker.io/nginx:1.28"} {
		pod := aPod("idle", "nginx:1.28", "side:1")
		fakekubelet.Status(pod, "app").RestartCount = 3
		pod.Annotations = map[string]string{"old": "1"}
		got := trigger(t, pod, inplace.UpdateOptions{
			ContainerImages: map[string]string{"app": image}, UpdatePodPhase: "starting", ExpectedCurrentSandboxPhase: "idle",
			Labels: map[string]string{"team": "a"}, RemoveAnnotations: []string{"old"},
		})
		s := state(t, got)
		if got.Labels[phaseLabel] != "running" || got.Labels["team"] != "a" || s.Phase != "completed" || len(s.TargetImages) != 0 {
			t.Errorf("%s: %v %+v", image, got.Labels, s)
		}
		want := map[string]inplace.StableContainerStatus{"app": {ContainerID: "containerd://box-1-app-0", RestartCount: 3}}
		if diff := cmp.Diff(want, s.StableContainerStatuses); diff != "" {
			t.Error(diff)
		}
		for _, key := range []string{"started-at", "last-active"} {
			if _, err := time.Parse(time.RFC3339, got.Annotations[prefix+key]); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		}
		if _, ok := got.Annotations["old"]; ok {
			t.Error("removed annotation stays")
		}
		if got.Spec.Containers[0].Image != "nginx:1.28" {
			t.Error("the image's name was rewritten, which restarts the container:", got.Spec.Containers[0].Image)
		}
	}
	different := trigger(t, aPod("idle", "nginx:1.28"), inplace.UpdateOptions{ContainerImages: map[string]string{"app": "nginx:1.29"}, UpdatePodPhase: "starting"})
	if different.Labels[phaseLabel] != "starting" {
		t.Error(different.Labels)
	}
	stopping := trigger(t, aPod("running", "nginx:1.28"), inplace.UpdateOptions{
		ContainerImages: map[string]string{"app": "nginx:1.28"}, UpdatePodPhase: "stopping", TargetPodPhase: "idle",
	})
	if stopping.Labels[phaseLabel] != "idle" || stopping.Annotations[stateKey] != "" {
		t.Error(stopping.Labels, stopping.Annotations)
	}
	pending := aPod("idle", "nginx:1.28")
	pending.Status.Phase = corev1.PodPending
	_, err := inplace.TriggerUpdateWithOptions(t.Context(), server(pending), pending, inplace.UpdateOptions{ContainerImages: map[string]string{"app": "nginx:1.28"}})
	wantError(t, err, podupdate.ErrPodNotRunning)
}

func TestTriggerRefuses(t *testing.T) {
	pod := aPod("running", "app:1")
	c := server(pod)
	for name, x := range map[string]struct {
		opts inplace.UpdateOptions
		want error
	}{
		"another phase":     {inplace.UpdateOptions{ExpectedCurrentSandboxPhase: "idle"}, inplace.ErrUnexpectedPodPhase},
		"no image":          {inplace.UpdateOptions{ContainerImages: map[string]string{"app": ""}}, inplace.ErrTargetImageIsRequired},
		"no such container": {inplace.UpdateOptions{ContainerImages: map[string]string{"zip": "a"}}, inplace.ErrContainerNotFound},
		"no such phase":     {inplace.UpdateOptions{TargetPodPhase: "asleep"}, podupdate.ErrUnknownPhase},
	} {
		got, err := inplace.TriggerUpdateWithOptions(t.Context(), c, pod, x.opts)
		if got != nil {
			t.Errorf("%s: a pod beside an error", name)
		}
		wantError(t, err, x.want)
	}
	_, err := inplace.TriggerUpdateWithOptions(t.Context(), c, nil, inplace.UpdateOptions{})
	wantError(t, err, podupdate.ErrNoPod)
	if diff := cmp.Diff(pod.Spec, stored(t, c, pod).Spec); diff != "" {
		t.Error(diff)
	}
}
