package testcluster

import (
	"cmp"
	"time"
)

// Options say how a cluster differs from kube-apiserver's defaults. The zero value is a good cluster.
type Options struct {
	// NoWatchCache serves lists and watches from etcd (--watch-cache=false).
	NoWatchCache bool

	// APIServer sets flags of kube-apiserver: {"min-request-timeout": "5"}, without dashes. They win over all others.
	APIServer map[string]string

	// NodeGrace is the time a node may be silent until it counts as Unknown (--node-monitor-grace-period of
	// kube-controller-manager); 0 is 10 s here, a quarter of what the recordings of real clusters were made with.
	// Leases are renewed four times in this time.
	NodeGrace time.Duration

	// Controllers of kube-controller-manager that run besides those of a node roll, such as job-controller.
	Controllers []string

	// NodeStart is the time from a node's creation to its readiness, as the kubelets play it; 0 is 1 s.
	NodeStart time.Duration

	// PodStart is the time from a pod's binding to its readiness, PodStop the time from its deletion to its end, as
	// the kubelets play them; 0 is 1 s for both. Without such a delay no budget would ever refuse an eviction.
	PodStart, PodStop time.Duration
}

func (o Options) nodeGrace() time.Duration { return cmp.Or(o.NodeGrace, 10*time.Second) }
func (o Options) nodeStart() time.Duration { return cmp.Or(o.NodeStart, time.Second) }
func (o Options) podStart() time.Duration  { return cmp.Or(o.PodStart, time.Second) }
func (o Options) podStop() time.Duration   { return cmp.Or(o.PodStop, time.Second) }
