package controller

import (
	"fmt"
	"math/rand/v2"
	"time"

	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"
)

// How often a node is pinged and its status written, unless options say otherwise.
const (
	DefaultPingInterval         = 10 * time.Second
	DefaultStatusUpdateInterval = 1 * time.Minute
)

// DefaultPingTimeout bounds a Ping.
const DefaultPingTimeout = 10 * time.Second

// DefaultJitter is the part of an interval by which a pause may be longer, as a kubelet has it
// (k8s.io/kubernetes, pkg/kubelet/kubelet.go, Run).
const DefaultJitter = 0.04

// A NodeControllerOpt changes a NodeController that is being made. Where two say different things the last one wins,
// but for leases, which may be configured once.
type NodeControllerOpt func(*NodeController) error

// WithNodePingInterval sets the pause between two pings; 0 and less mean DefaultPingInterval. Without leases it is also
// the pause between two updates of the status.
func WithNodePingInterval(d time.Duration) NodeControllerOpt {
	return func(n *NodeController) error {
		n.pingInterval = d
		return nil
	}
}

// WithNodePingTimeout limits how long a Ping may take, in place of DefaultPingTimeout. NewNodeController panics where
// it isn't above 0.
func WithNodePingTimeout(timeout time.Duration) NodeControllerOpt {
	return func(n *NodeController) error {
		n.pingTimeout = timeout
		return nil
	}
}

// WithNodeStatusUpdateInterval sets the pause between two updates of the status where the node has a lease; 0 and less
// mean DefaultStatusUpdateInterval. Without a lease the interval of the pings counts.
func WithNodeStatusUpdateInterval(d time.Duration) NodeControllerOpt {
	return func(n *NodeController) error {
		n.statusInterval = d
		return nil
	}
}

// WithNodeStatusUpdateErrorHandler has h asked when the API server refuses an update of the status (not while Run starts,
// and not about failed pings): nil from it leads to one more try, which creates the node if it is gone; an error is
// logged. Without a handler a node that is gone is created again, and other errors are logged.
func WithNodeStatusUpdateErrorHandler(h ErrorHandler) NodeControllerOpt {
	return func(n *NodeController) error {
		n.statusTrouble = h
		return nil
	}
}

// WithNodeLeaseErrorHandler has h told of each failed renewal of the lease. What h returns is logged, nil isn't. The next
// try comes in any case.
func WithNodeLeaseErrorHandler(h ErrorHandler) NodeControllerOpt {
	return func(n *NodeController) error {
		n.leaseTrouble = h
		return nil
	}
}

// WithNodeStatusReportInterval leaves out an update of the status that would change nothing but heartbeats until d has
// passed since the last one; a change is written at once. A kubelet's interval is five minutes
// (nodeStatusReportFrequency; k8s.io/kubernetes, pkg/kubelet/apis/config/v1beta1/defaults.go). The first interval after a
// change is up to half longer or shorter by chance, so that many nodes don't report at once
// (pkg/kubelet/kubelet_node_status.go, calculateDelay). Use it with leases, which are the heartbeats then. The default
// is 0: every update is written.
func WithNodeStatusReportInterval(d time.Duration) NodeControllerOpt {
	return func(n *NodeController) error {
		n.reportInterval = d
		return nil
	}
}

// WithNodeLister reads the node from an informer's cache, which many controllers should share, in place of a GET before
// each update of the status. A GET is left for what a cache can't tell: whether a node is really gone. The lister need
// not be synced when Run is called, and what [LeaveOutApplied] takes away need not be in the cache. With a lister, each
// renewal of the lease notices that the node was deleted.
func WithNodeLister(nodes corelisters.NodeLister) NodeControllerOpt {
	return func(n *NodeController) error {
		n.lister = nodes
		return nil
	}
}

// WithNodeNotReadyOnPingFailure writes the status while pings fail, with the condition Ready at False, in place of
// writing nothing. The lease isn't renewed all the same.
func WithNodeNotReadyOnPingFailure() NodeControllerOpt {
	return func(n *NodeController) error {
		n.notReady = true
		return nil
	}
}

// WithNodeSpecReconciliation keeps the wanted taints on the node, and its providerID where it has none: a wanted
// taint that was removed comes again, and one that the provider no longer wants goes. Wanted are the taints of the
// node that NewNodeController got, until the provider notifies of a node with others. Taints of others stay, and
// neither spec.unschedulable nor its taint is ever written: a node that was cordoned stays cordoned. Without this
// option the spec is written when the node is created, and never again, as a kubelet does it.
func WithNodeSpecReconciliation() NodeControllerOpt {
	return func(n *NodeController) error {
		n.keepSpec = true
		return nil
	}
}

// WithNodeTracer begins a span for each Ping, which gets the span's context.
func WithNodeTracer(t Tracer) NodeControllerOpt {
	return func(n *NodeController) error {
		n.tracer = t
		return nil
	}
}

// WithNodeClock sets the clock by which intervals, timeouts and heartbeats go. Only the time that one request to the API
// server may take is measured by the wall clock. The default is the wall clock.
func WithNodeClock(c clock.WithDelayedExecution) NodeControllerOpt {
	return func(n *NodeController) error {
		n.clock = c
		return nil
	}
}

// WithNodeJitter sets the part of an interval, from 0 to 1, by which each pause may be longer, in place of
// DefaultJitter. Without jitter, nothing is left to chance.
func WithNodeJitter(fraction float64) NodeControllerOpt {
	return func(n *NodeController) error {
		if !(fraction >= 0 && fraction <= 1) {
			return fmt.Errorf("node jitter: found %v, want a part of the interval from 0 to 1", fraction)
		}
		n.fraction = fraction
		return nil
	}
}

// jitter makes a pause longer by chance.
func (n *NodeController) jitter(d time.Duration) time.Duration {
	return max(d, d+time.Duration(n.fraction*float64(n.chance(d)))) // d, where the sum is no time any more
}

// chance is any time below d.
func (n *NodeController) chance(d time.Duration) time.Duration {
	return time.Duration(rand.Float64() * float64(d))
}
