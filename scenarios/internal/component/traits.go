package component

import "github.com/nodesim/nodesim/scenarios/internal/model"

// PodTraits describes the program in a workload's pods, which no API shows. The Template of the pods holds it as
// Workload.
type PodTraits struct {
	// StartReady is the time from the container's start until it is ready, Stop the time until it exits after
	// SIGTERM.
	StartReady, Stop model.Dist
	// NeverStops says that it exits by SIGKILL alone.
	NeverStops bool
	// ImageBytes is the size of the pull on a node without the image.
	ImageBytes int64
	// LeakPerMinute is by how many bytes its memory grows; see [kubelet.Kubelets.Leak].
	LeakPerMinute int64
	// NetworkPlugin says that the program brings a node's network up: where it can't, it crashes and is started
	// again.
	NetworkPlugin bool
	// NodeProxy says that it is kube-proxy, which reports its start on the node.
	NodeProxy bool
	// DiesOfSIGTERM says that it doesn't handle SIGTERM, and so exits with 143
	// where others exit with 0.
	DiesOfSIGTERM bool
	// Run is the time from ready until its end, where it ends by itself, as that of a Job does; nil is for ever.
	Run *model.Dist
	// Others are the programs of the pods' further containers, in their order. Where it is too short, they are like the
	// first.
	Others []ContainerTraits
}

// ContainerTraits describes the program in one container; the fields mean what those of PodTraits do.
type ContainerTraits struct {
	StartReady, Stop model.Dist
	NeverStops       bool
	ImageBytes       int64
}

// Container returns what is known of one of the pods' containers.
func (t *PodTraits) Container(c int) ContainerTraits {
	if c > 0 && c <= len(t.Others) {
		return t.Others[c-1]
	}
	return ContainerTraits{StartReady: t.StartReady, Stop: t.Stop, NeverStops: t.NeverStops, ImageBytes: t.ImageBytes}
}
