package actors

import "github.com/nodesim/nodesim/scenarios/model"

// PodTraits is what the program in a workload's pods does, which no API shows.
// It stands in the Template of the pods as Workload.
type PodTraits struct {
	// StartReady is how long the container runs until it is ready, Stop how long
	// it takes to exit after SIGTERM.
	StartReady, Stop model.Dist
	// NeverStops says that it exits by SIGKILL alone.
	NeverStops bool
	// ImageBytes is what a node pulls that doesn't have the image.
	ImageBytes int64
	// LeakPerMinute is by how many bytes its memory grows; see [Kubelets.Leak].
	LeakPerMinute int64
	// NetworkPlugin says that it is what brings a node's network up: where that
	// can't be done, it crashes and is started again.
	NetworkPlugin bool
	// NodeProxy says that it is kube-proxy, which reports its start on the node.
	NodeProxy bool
	// DiesOfSIGTERM says that it doesn't handle SIGTERM, and so exits with 143
	// where others exit with 0.
	DiesOfSIGTERM bool
	// Run is how long it runs, counted from when it is ready, where it ends by
	// itself, as that of a Job does; nil is for ever.
	Run *model.Dist
}
