package imageresolver

import (
	"context"
	"fmt"
	"strings"
)

// Digests are the two digests of an image; either may be empty.
type Digests struct {
	// Manifest is the digest under which a registry serves the image: of its manifest, or of its list of manifests.
	Manifest string
	// Config is the digest of the image's config.
	Config string
}

// Verdict is whether a container runs an image.
type Verdict int

// The verdicts. The zero one is that nothing can be said.
const (
	Unknown Verdict = iota
	Yes
	No
)

// String is the verdict in a word.
func (v Verdict) String() string {
	switch v {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "unknown"
}

// Recorded is a DigestResolver over a map of image reference → digests. Build it with Record; it must not change
// while it is read.
type Recorded map[string]Digests

// Record makes a Recorded of a map, whose references may leave out what Same lets them.
func Record(images map[string]Digests) Recorded {
	r := make(Recorded, len(images))
	for image, d := range images {
		r[key(image)] = d
	}
	return r
}

// Manifest is the digest of the image's manifest: that of the reference if it carries one, else the recorded one.
func (r Recorded) Manifest(image string) (string, bool) {
	if d, ok := digestIn(image); ok {
		return d, true
	}
	d := r[key(image)].Manifest
	return d, d != ""
}

// Config is the recorded digest of the image's config.
func (r Recorded) Config(image string) (string, bool) {
	d := r[key(image)].Config
	return d, d != ""
}

// Runs says whether a container with that imageID in its status runs the image: by the manifest's digest, else by the
// config's. It is Unknown where nothing is recorded of the image, or the id holds no digest.
func (r Recorded) Runs(image, imageID string) Verdict {
	running, err := StatusDigest(imageID)
	if err != nil {
		return Unknown
	}
	manifest, known := r.Manifest(image)
	if known && manifest == running {
		return Yes
	}
	config, hasConfig := r.Config(image)
	if !known && !hasConfig {
		return Unknown
	}
	if hasConfig && config == running {
		return Yes
	}
	if !known && strings.Contains(imageID, "@") {
		return Unknown // a config's digest and a manifest's say nothing of each other
	}
	return No
}

// Resolve is Manifest, or an ErrNotRecorded.
func (r Recorded) Resolve(_ context.Context, imageRef string, _ ...ResolveOption) (string, error) {
	return orNotRecorded(imageRef, r.Manifest)
}

// ResolveConfigDigest is Config, or an ErrNotRecorded.
func (r Recorded) ResolveConfigDigest(_ context.Context, imageRef string, _ ...ResolveOption) (string, error) {
	return orNotRecorded(imageRef, r.Config)
}

// DigestFromStatus is StatusDigest.
func (Recorded) DigestFromStatus(_, imageID string) (string, error) { return StatusDigest(imageID) }

func orNotRecorded(image string, of func(string) (string, bool)) (string, error) {
	if d, ok := of(image); ok {
		return d, nil
	}
	return "", fmt.Errorf("image %q: %w", image, ErrNotRecorded)
}
