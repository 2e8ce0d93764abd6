package component

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// The effects of taints.
const (
	EffectNoSchedule       = "NoSchedule"
	EffectNoExecute        = "NoExecute"
	EffectPreferNoSchedule = "PreferNoSchedule"
)

// The taints that more than one component knows.
const (
	TaintNotReady      = "node.kubernetes.io/not-ready"
	TaintUnreachable   = "node.kubernetes.io/unreachable"
	TaintUnschedulable = "node.kubernetes.io/unschedulable"
	TaintUninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
)

// The labels of topology.
const (
	LabelZone     = "topology.kubernetes.io/zone"
	LabelRegion   = "topology.kubernetes.io/region"
	LabelHostname = "kubernetes.io/hostname"
)

// The condition of a pod whose resize waits, and its reason where the node can never hold it.
const (
	ResizePending    = "PodResizePending"
	ResizeInfeasible = "Infeasible"
)

// SchedulerName is the scheduler that pods name and that reports Events.
const SchedulerName = "default-scheduler"

// RoundTrip is a request to the API server and its answer. An estimate.
const RoundTrip = 10 * time.Millisecond

// VolumeKey is the name of the volume of a pod's claim at the provider.
func VolumeKey(p *kube.Pod) string { return p.Namespace + "/" + p.Claim }

// Tolerated reports whether the pods of a template tolerate a taint.
func Tolerated(t *kube.Template, taint kube.Taint) bool {
	for i := range t.Tolerations {
		if t.Tolerations[i].Tolerates(taint) {
			return true
		}
	}
	return false
}
