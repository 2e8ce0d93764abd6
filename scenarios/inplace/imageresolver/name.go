package imageresolver

import (
	"fmt"
	"regexp"
	"strings"
)

// Same says whether two references name one image: the registry, the library folder and the tag latest may be left out.
// What can't be parsed is compared as it is.
func Same(a, b string) bool { return a == b || key(a) == key(b) }

// key is the reference with nothing left out. A reference with a tag and a digest means the digest, as it does for
// the kubelet.
func key(image string) string {
	if whole, ok := canonical(image); ok {
		return whole
	}
	return image
}

// digestIn is the digest that a reference carries.
func digestIn(image string) (string, bool) {
	at := strings.LastIndexByte(image, '@')
	if at < 0 || !digest.MatchString(image[at+1:]) {
		return "", false
	}
	return image[at+1:], true
}

// StatusDigest reads the digest of a container status's imageID, in each form that runtimes write:
// "docker.io/library/nginx@sha256:…" (a manifest), "sha256:…" (a config), both also after "docker-pullable://" or
// "docker://". It is an ErrNoDigest if there is none. A digest may be shorter than its algorithm makes it, since
// simulated runtimes shorten theirs.
func StatusDigest(imageID string) (string, error) {
	id := imageID
	if _, after, ok := strings.Cut(id, "://"); ok {
		id = after
	}
	if at := strings.LastIndexByte(id, '@'); at >= 0 {
		id = id[at+1:]
	}
	if !digest.MatchString(id) {
		return "", fmt.Errorf("image id %q: %w: want \"name@sha256:…\" or \"sha256:…\"", imageID, ErrNoDigest)
	}
	return id, nil
}

// digest is one of the algorithms that the OCI image specification (descriptor.md, Digests) registers.
var digest = regexp.MustCompile(`^(sha256|sha384|sha512|blake3):[0-9a-fA-F]+$`)
