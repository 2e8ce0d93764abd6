package actors

import (
	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/model"
)

// PodTraits are what a kubelet must know of a workload's pods and no API shows.
// A workload puts a *PodTraits into its pods' Template.Workload; nil is the zero
// PodTraits. But for LeakPerMinute, which [Kubelets.Leak] changes, they must not
// change once a pod has them.
type PodTraits struct {
	// Start is how long a container takes from its start until it is ready; nil
	// is the machine's usual time.
	Start *model.Dist
	// Stop is how long a container takes from SIGTERM until it exits by itself;
	// nil is the machine's usual time.
	Stop *model.Dist
	// IgnoresSIGTERM says that containers exit by SIGKILL alone, at the end of
	// the grace period.
	IgnoresSIGTERM bool
	// DiesOfSIGTERM says that containers don't handle SIGTERM and so exit with
	// 143 where others exit with 0.
	DiesOfSIGTERM bool
	// Run is how long the containers of a pod run that ends by itself, as those
	// of a Job do; nil is for ever.
	Run *model.Dist
	// ImageBytes is the size of the image; 0 is 60 MiB.
	ImageBytes int64
	// LeakPerMinute is how many bytes more a pod uses every minute.
	LeakPerMinute int64
	// leaking is when that began.
	leaking api.Instant
}

var usual PodTraits

func traitsOf(t *api.Template) *PodTraits {
	if w, ok := t.Workload.(*PodTraits); ok && w != nil {
		return w
	}
	return &usual
}

// usualImage is the size of an image that nobody knows better.
const usualImage = 60 << 20

func (t *PodTraits) imageBytes() int64 {
	if t.ImageBytes > 0 {
		return t.ImageBytes
	}
	return usualImage
}
