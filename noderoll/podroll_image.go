package noderoll

import "strings"

// sameImage compares two references as people mean them: the registry, the
// repository "library" and the tag that a runtime adds to short names don't
// count (github.com/distribution/reference, ParseNormalizedNamed).
func sameImage(a, b string) bool { return a == b || familiar(a) == familiar(b) }

func familiar(image string) string {
	for _, host := range []string{"docker.io/", "index.docker.io/"} {
		if rest, ok := strings.CutPrefix(image, host); ok {
			image = strings.TrimPrefix(rest, "library/")
			break
		}
	}
	name := image[strings.LastIndexByte(image, '/')+1:]
	if !strings.ContainsAny(name, ":@") {
		image += ":latest"
	}
	return image
}

// runsOther reports whether a status plainly names another image than the spec.
// A runtime may name an image by its digest, or by another of its tags, so a
// difference alone proves nothing: see podRec.firstLook.
func (c *Container) runsOther() bool {
	if c.StatusImage == "" || strings.HasPrefix(c.StatusImage, "sha256:") || strings.Contains(c.Image+c.StatusImage, "@") {
		return false
	}
	return !sameImage(c.Image, c.StatusImage)
}

// stuck are the reasons for waiting with which an update goes nowhere by itself.
// ErrImagePull is not among them: the first pull that fails is tried again, and
// only then the kubelet says ImagePullBackOff (pkg/kubelet/images/types.go and
// pkg/kubelet/kuberuntime of Kubernetes).
var stuck = map[string]bool{
	"ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"CrashLoopBackOff": true, "CreateContainerConfigError": true, "CreateContainerError": true,
}
