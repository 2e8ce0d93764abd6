package inplace_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// registry is a resolver as a caller may bring one: it knows some digests, and fails for all others.
type registry struct{ manifests, configs map[string]string }

func (r registry) Resolve(_ context.Context, image string, _ ...imageresolver.ResolveOption) (string, error) {
	if d, ok := r.manifests[image]; ok {
		return d, nil
	}
	return "", errors.New("registry is away")
}

func (r registry) ResolveConfigDigest(_ context.Context, image string, _ ...imageresolver.ResolveOption) (string, error) {
	if d, ok := r.configs[image]; ok {
		return d, nil
	}
	return "", errors.New("registry is away")
}

func (registry) DigestFromStatus(_, imageID string) (string, error) {
	if _, digest, ok := strings.Cut(imageID, "@"); ok {
		return digest, nil
	}
	return "", errors.New("no digest")
}

// thin is a pod as tests write it by hand: names, images and image ids, and no states.
func thin(t *testing.T, s inplace.InplaceUpdateState, containers ...corev1.ContainerStatus) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "box-1"}}
	for _, name := range []string{"app", "side"} {
		if image, ok := s.TargetImages[name]; ok {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name, Image: image})
		}
	}
	pod.Status.ContainerStatuses = containers
	return withState(t, pod, s)
}

func flying(images map[string]string, was map[string]string) inplace.InplaceUpdateState {
	s := inplace.InplaceUpdateState{Phase: "starting", TargetPodPhase: "running", TargetImages: images,
		LastContainerStatuses: map[string]inplace.InplaceUpdateContainerStatus{}}
	for name, id := range was {
		s.LastContainerStatuses[name] = inplace.InplaceUpdateContainerStatus{ImageID: id}
	}
	return s
}

func TestIsInplaceUpdateCompleted(t *testing.T) {
	app := func(image string) map[string]string { return map[string]string{"app": image} }
	runs := func(name, image, id string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, Image: image, ImageID: id}
	}
	r := registry{
		manifests: map[string]string{"nginx:1.28": "sha256:28", "nginx:latest": "sha256:1a", "mirror/nginx:1": "sha256:28", "idle:1": "sha256:1d", "side:2": "sha256:52"},
		configs:   map[string]string{"nginx:1.28": "sha256:c28", "nginx@sha256:aa": "sha256:c28", "nginx@sha256:bb": "sha256:cbb"},
	}
	differs := thin(t, flying(app("nginx:1.28"), app("nginx@sha256:27")), runs("app", "nginx:1.28", "nginx@sha256:28"))
	differs.Spec.Containers[0].Image = "nginx:1.27"
	two := map[string]string{"app": "nginx:1.28", "side": "side:2"}
	was := map[string]string{"app": "nginx@sha256:27", "side": "side@sha256:51"}
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want bool
	}{
		{"no annotation", thin(t, inplace.InplaceUpdateState{Phase: "completed"}), true},
		{"completed", thin(t, inplace.InplaceUpdateState{Phase: "completed", TargetImages: app("x")}), true},
		{"spec still old", differs, false},
		{"not in the status", thin(t, flying(app("nginx:1.28"), app("nginx@sha256:27"))), false},
		{"same name, new digest", thin(t, flying(app("nginx:latest"), app("nginx@sha256:0a")), runs("app", "nginx:latest", "nginx@sha256:1a")), true},
		{"the kubelet's name", thin(t, flying(app("nginx:1.28"), app("nginx@sha256:27")), runs("app", "docker.io/library/nginx:1.28", "docker.io/library/nginx@sha256:28")), true},
		{"other name, same digest", thin(t, flying(app("mirror/nginx:1"), app("nginx@sha256:27")), runs("app", "nginx:1.28", "nginx@sha256:28")), true},
		{"idle digest", thin(t, flying(app("idle:1"), app("nginx@sha256:28")), runs("app", "idle:1", "idle@sha256:1d")), true},
		{"idle digest, unchanged", thin(t, flying(app("idle:1"), app("idle@sha256:1d")), runs("app", "idle:1", "idle@sha256:1d")), true},
		{"digest differs, no config", thin(t, flying(app("side:2"), app("side@sha256:51")), runs("app", "side:2", "side@sha256:aa")), false},
		{"configs equal", thin(t, flying(app("nginx:1.28"), app("nginx@sha256:27")), runs("app", "nginx:1.28", "nginx@sha256:aa")), true},
		{"configs differ", thin(t, flying(app("nginx:1.28"), app("nginx@sha256:27")), runs("app", "nginx:1.28", "nginx@sha256:bb")), false},
		{"target unknown", thin(t, flying(app("what:1"), app("nginx@sha256:27")), runs("app", "what:1", "what@sha256:aa")), false},
		{"image id without digest", thin(t, flying(app("nginx:1.28"), app("nginx@sha256:27")), runs("app", "nginx:1.28", "")), false},
		{"two new", thin(t, flying(two, was), runs("app", "nginx:1.28", "nginx@sha256:28"), runs("side", "side:2", "side@sha256:52")), true},
		{"one old", thin(t, flying(two, was), runs("app", "nginx:1.28", "nginx@sha256:28"), runs("side", "side:1", "side@sha256:51")), false},
		{"nothing to await", thin(t, flying(app("nginx:1.28"), nil)), true},
		{"broken state", withAnnotation(aPod("starting", "a"), "{"), false},
	} {
		if got := inplace.IsInplaceUpdateCompleted(t.Context(), nil, c.pod, r); got != c.want {
			complete, reason, err := podupdate.Keys{}.Completion(t.Context(), c.pod, r)
			t.Errorf("%s: %v (%v, %s, %v)", c.name, got, complete, reason, err)
		}
	}
	if !inplace.IsInplaceUpdateCompleted(t.Context(), nil, &corev1.Pod{}, r) {
		t.Error("a pod without an update is complete")
	}
}
