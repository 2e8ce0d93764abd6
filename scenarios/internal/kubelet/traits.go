package kubelet

import (
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// traitsOf are the traits of a template's pods, or nil: then the machine's usual
// times hold.
func traitsOf(t *kube.Template) *component.PodTraits {
	w, _ := t.Workload.(*component.PodTraits)
	return w
}

// usualImage is the size of an image of unknown size: 60 MiB.
const usualImage = 60 << 20

func imageBytes(t *component.PodTraits, container int) int64 {
	if t == nil || t.Container(container).ImageBytes <= 0 {
		return usualImage
	}
	return t.Container(container).ImageBytes
}

// leakPerMinute is by how many bytes the memory of a template's pods grows.
func leakPerMinute(t *kube.Template) int64 {
	if w := traitsOf(t); w != nil {
		return max(w.LeakPerMinute, 0)
	}
	return 0
}
