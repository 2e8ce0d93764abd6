// Package imageresolver resolves image references to digests.
//
// In: an image reference as a pod's spec has it, or an image id as a container's status has it. Out: the digest of
// the manifest or of the image's config. DigestResolver is the interface that an in-place update asks; Recorded and
// Learned answer it from what they were told, and say ErrNotRecorded for what they weren't.
//
// Nothing of this package calls a registry: whether an update is complete is asked for every pod in every pass, and must
// neither wait nor fail with a network.
//
// Its API may still change (docs/stability.md).
package imageresolver

import (
	"context"
	"errors"
)

// ErrNotRecorded is a local resolver's error for an unknown image. It is no failure: the caller decides by other
// evidence.
var ErrNotRecorded = errors.New("digest isn't recorded")

// ErrNoDigest is the error of DigestFromStatus for an image id without a digest.
var ErrNoDigest = errors.New("image id holds no digest")

// DigestResolver turns images into digests. Implementations are safe for concurrent use.
type DigestResolver interface {
	// Resolve gives the digest of the manifest. A reference that carries a digest means that one.
	Resolve(ctx context.Context, imageRef string, opts ...ResolveOption) (string, error)
	// ResolveConfigDigest gives the digest of the image's config, which images of one content share whatever
	// registry or manifest list they came by.
	ResolveConfigDigest(ctx context.Context, imageRef string, opts ...ResolveOption) (string, error)
	// DigestFromStatus reads the digest in a container status's imageID, without any request. It teaches the resolver
	// nothing: image is the name that the kubelet chose among several.
	DigestFromStatus(image, imageID string) (string, error)
}

// Options holds the sum of a call's options.
type Options struct {
	// PullSecrets name the secrets ("namespace/name") by which a registry would be asked.
	PullSecrets []string
}

// ResolveOption sets one of the Options. The local resolvers take every option and need none.
type ResolveOption func(*Options)

// WithPullSecrets names secrets, each as "namespace/name", by which a registry would be asked.
func WithPullSecrets(names ...string) ResolveOption {
	return func(o *Options) { o.PullSecrets = append(o.PullSecrets, names...) }
}

// Collect applies options in their order, for those who write a resolver of their own.
func Collect(opts ...ResolveOption) Options {
	var o Options
	for _, set := range opts {
		if set != nil {
			set(&o)
		}
	}
	return o
}
