package imageresolver

import (
	"context"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// Learned is a DigestResolver that learns from pods whose update is done: the container of an image runs by an image
// id, so that is the image's digest. The zero Learned knows nothing. It is safe for concurrent use.
//
// A tag that is moved at the registry means one digest for the pods before and another for those after. So Runs says Yes
// to every digest that was learned and never No, while Resolve can only give the newest.
type Learned struct {
	mu     sync.RWMutex
	images map[string]*taught
}

type taught struct {
	Digests
	all map[string]bool
}

// Learn takes what the containers of a pod run by. Hand it pods whose update is complete, and no others: in the middle of
// an update the spec names an image that doesn't run yet. A container that doesn't run teaches nothing.
func (l *Learned) Learn(pod *corev1.Pod) {
	if pod == nil {
		return
	}
	spec := make(map[string]string, len(pod.Spec.Containers))
	for _, c := range pod.Spec.Containers {
		spec[c.Name] = c.Image
	}
	for _, s := range pod.Status.ContainerStatuses {
		image := spec[s.Name]
		if image == "" || s.State.Running == nil {
			continue
		}
		digest, err := StatusDigest(s.ImageID)
		if err != nil {
			continue
		}
		l.keep(image, digest, strings.Contains(s.ImageID, "@"))
	}
}

// keep files a digest: an image id with a name before it is a manifest's digest, a bare one a config's.
func (l *Learned) keep(image, digest string, manifest bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.images == nil {
		l.images = map[string]*taught{}
	}
	t := l.images[key(image)]
	if t == nil {
		t = &taught{all: map[string]bool{}}
		l.images[key(image)] = t
	}
	t.all[digest] = true
	if manifest {
		t.Manifest = digest
	} else {
		t.Config = digest
	}
}

// Runs says Yes if a pod was seen that ran the image by this id's digest, else Unknown.
func (l *Learned) Runs(image, imageID string) Verdict {
	digest, err := StatusDigest(imageID)
	if err != nil {
		return Unknown
	}
	if d, ok := digestIn(image); ok && d == digest {
		return Yes
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if t := l.images[key(image)]; t != nil && t.all[digest] {
		return Yes
	}
	return Unknown
}

// Manifest is the digest of the image's manifest: that of the reference if it carries one, else the newest learned.
func (l *Learned) Manifest(image string) (string, bool) {
	if d, ok := digestIn(image); ok {
		return d, true
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	t := l.images[key(image)]
	if t == nil {
		return "", false
	}
	return t.Manifest, t.Manifest != ""
}

// Config is the digest of the image's config, the newest learned.
func (l *Learned) Config(image string) (string, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	t := l.images[key(image)]
	if t == nil {
		return "", false
	}
	return t.Config, t.Config != ""
}

// Resolve is Manifest, or an ErrNotRecorded.
func (l *Learned) Resolve(_ context.Context, imageRef string, _ ...ResolveOption) (string, error) {
	return orNotRecorded(imageRef, l.Manifest)
}

// ResolveConfigDigest is Config, or an ErrNotRecorded.
func (l *Learned) ResolveConfigDigest(_ context.Context, imageRef string, _ ...ResolveOption) (string, error) {
	return orNotRecorded(imageRef, l.Config)
}

// DigestFromStatus is StatusDigest.
func (*Learned) DigestFromStatus(_, imageID string) (string, error) { return StatusDigest(imageID) }
