package imageresolver_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
)

const (
	d1 = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	d2 = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

var (
	_ imageresolver.DigestResolver = imageresolver.Recorded{}
	_ imageresolver.DigestResolver = &imageresolver.Learned{}
)

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"ubuntu:22.04", "docker.io/library/ubuntu:22.04", true}, {"nginx", "index.docker.io/library/nginx:latest", true},
		{"nginx:1@" + d1, "nginx@" + d1, true}, {"!!", "!!", true},
		{"nginx:1", "nginx:2", false}, {"registry.example/nginx:1", "nginx:1", false}, {"!!", "??", false}, {"nginx@" + d1, "nginx@" + d2, false},
	} {
		if imageresolver.Same(c.a, c.b) != c.same || imageresolver.Same(c.b, c.a) != c.same {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.same)
		}
	}
}

func TestStatusDigest(t *testing.T) {
	for id, want := range map[string]string{
		"docker.io/library/nginx@" + d1: d1, "docker-pullable://nginx@" + d1: d1, d1: d1, "docker://" + d1: d1, "nginx:1@" + d1: d1,
		"": "", "nginx:1": "", "nginx": "", "sha256:": "", "nginx@sha256:xyz": "",
	} {
		got, err := imageresolver.Recorded{}.DigestFromStatus("any", id)
		if got != want || (want == "") != errors.Is(err, imageresolver.ErrNoDigest) {
			t.Errorf("%q: %q, %v, want %q", id, got, err, want)
		}
	}
}

func TestRecorded(t *testing.T) {
	r := imageresolver.Record(map[string]imageresolver.Digests{
		"docker.io/library/nginx:1": {Manifest: d1, Config: d2}, "config:1": {Config: d2},
	})
	if d, err := r.Resolve(t.Context(), "nginx:1", imageresolver.WithPullSecrets("shop/pull")); d != d1 || err != nil {
		t.Error(d, err)
	}
	if d, err := r.Resolve(t.Context(), "what@"+d2); d != d2 || err != nil {
		t.Error("a reference with a digest stands for it:", d, err)
	}
	if d, err := r.ResolveConfigDigest(t.Context(), "nginx:1"); d != d2 || err != nil {
		t.Error(d, err)
	}
	for _, err := range []error{second(r.Resolve(t.Context(), "what:1")), second(r.ResolveConfigDigest(t.Context(), "what:1"))} {
		if !errors.Is(err, imageresolver.ErrNotRecorded) {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		image, id string
		want      imageresolver.Verdict
	}{
		{"nginx:1", "nginx@" + d1, imageresolver.Yes}, {"nginx:1", d2, imageresolver.Yes}, {"nginx:1", "nginx@" + d2, imageresolver.Yes},
		{"nginx:1", "nginx@sha256:33", imageresolver.No}, {"nginx:1", "", imageresolver.Unknown}, {"what:1", d1, imageresolver.Unknown},
		{"config:1", d2, imageresolver.Yes}, {"config:1", d1, imageresolver.No}, {"config:1", "config@" + d1, imageresolver.Unknown},
		{"what@" + d1, "what@" + d1, imageresolver.Yes}, {"what@" + d1, "what@" + d2, imageresolver.No},
	} {
		if got := r.Runs(c.image, c.id); got != c.want {
			t.Errorf("%s by %s: %s, want %s", c.image, c.id, got, c.want)
		}
	}
}

func second(_ string, err error) error { return err }

func TestLearned(t *testing.T) {
	var l imageresolver.Learned
	teach := func(image, id string, running bool) {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: image}}}}
		s := corev1.ContainerStatus{Name: "app", Image: "whatever", ImageID: id}
		if running {
			s.State.Running = &corev1.ContainerStateRunning{}
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{s, {Name: "unknown", ImageID: id}}
		l.Learn(pod)
	}
	l.Learn(nil)
	teach("nginx:1", "nginx@"+d2, false)
	teach("nginx:1", "no digest", true)
	if _, ok := l.Manifest("nginx:1"); ok {
		t.Error("has learned from what doesn't run")
	}
	teach("nginx:1", "nginx@"+d1, true)
	teach("docker.io/library/nginx:1", "sha256:c0", true)
	if d, err := l.Resolve(t.Context(), "nginx:1"); d != d1 || err != nil {
		t.Error(d, err)
	}
	if d, err := l.ResolveConfigDigest(t.Context(), "nginx:1"); d != "sha256:c0" || err != nil {
		t.Error(d, err)
	}
	teach("nginx:1", "nginx@"+d2, true) // the tag was moved
	for id, want := range map[string]imageresolver.Verdict{
		"a@" + d1: imageresolver.Yes, "a@" + d2: imageresolver.Yes, "a@sha256:33": imageresolver.Unknown, "": imageresolver.Unknown,
	} {
		if got := l.Runs("nginx:1", id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if _, err := l.Resolve(t.Context(), "what:1"); !errors.Is(err, imageresolver.ErrNotRecorded) {
		t.Error(err)
	}
}
