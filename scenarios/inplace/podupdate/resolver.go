package podupdate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
)

// Completion is Progress by a DigestResolver, which may be nil: whether the update of a pod is complete, and if not,
// the reason. A pod without an update is complete. A broken state and a resolver that fails are errors; a resolver that
// only doesn't know an image (imageresolver.ErrNotRecorded) leaves it to the container's ids.
func (k Keys) Completion(ctx context.Context, pod *corev1.Pod, resolver imageresolver.DigestResolver) (complete bool, reason string, err error) {
	p, err := k.completion(ctx, pod, resolver)
	return err == nil && (p.State == Done || p.State == None), p.Reason, err
}

func (k Keys) completion(ctx context.Context, pod *corev1.Pod, resolver imageresolver.DigestResolver) (Progress, error) {
	look := inspection{trusting: true}
	if resolver != nil {
		look.runs = func(image string, s *corev1.ContainerStatus) (imageresolver.Verdict, error) {
			return asked(ctx, resolver, image, s)
		}
	}
	return k.progress(pod, look, 0, time.Time{})
}

// asked is a resolver's verdict: the digests of the manifests are equal, or those of the configs are.
func asked(ctx context.Context, r imageresolver.DigestResolver, image string, s *corev1.ContainerStatus) (imageresolver.Verdict, error) {
	running, err := r.DigestFromStatus(s.Image, s.ImageID)
	if err != nil {
		return imageresolver.Unknown, fmt.Errorf("read the image id of %q: %w", s.Image, err)
	}
	wanted, err := r.Resolve(ctx, image)
	switch {
	case errors.Is(err, imageresolver.ErrNotRecorded):
		return imageresolver.Unknown, nil
	case err != nil:
		return imageresolver.Unknown, fmt.Errorf("resolve image %q: %w", image, err)
	case wanted == running:
		return imageresolver.Yes, nil
	}
	config, err := r.ResolveConfigDigest(ctx, image)
	if err == nil && config == running {
		return imageresolver.Yes, nil
	}
	if err == nil {
		var other string
		if other, err = r.ResolveConfigDigest(ctx, runningReference(s)); err == nil && other == config {
			return imageresolver.Yes, nil
		}
	}
	if err != nil && !errors.Is(err, imageresolver.ErrNotRecorded) {
		return imageresolver.Unknown, fmt.Errorf("resolve the config of image %q: %w", image, err)
	}
	return imageresolver.No, nil
}

// runningReference is what a container runs by as a reference: its image id where that has a name, else its image.
func runningReference(s *corev1.ContainerStatus) string {
	id := s.ImageID
	if _, after, ok := strings.Cut(id, "://"); ok {
		id = after
	}
	if strings.Contains(id, "@") {
		return id
	}
	return s.Image
}
