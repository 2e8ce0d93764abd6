package controller

import (
	"errors"
	"fmt"
	"time"
)

const (
	// DefaultRenewIntervalFraction is the part of a lease's duration after which it is renewed, as a kubelet has it
	// (k8s.io/kubernetes, pkg/kubelet/kubelet.go, nodeLeaseRenewIntervalFraction).
	DefaultRenewIntervalFraction = 0.25

	// DefaultLeaseDuration is the duration of a lease in seconds, as a kubelet has it (nodeLeaseDurationSeconds;
	// k8s.io/kubernetes, pkg/kubelet/apis/config/v1beta1/defaults.go).
	DefaultLeaseDuration = 40
)

// ErrConflictingLeaseControllerConfiguration is wrapped by the error of NewNodeController where leases are configured
// more than once.
var ErrConflictingLeaseControllerConfiguration = errors.New("multiple, conflicting lease configurations have been put into place")

// WithNodeEnableLeaseV1 gives the node a lease of that duration, renewed after a quarter of it in whole seconds; 0 means
// DefaultLeaseDuration, and less than 4 s is an error, since no interval is left. The client is the one of the namespace
// kube-node-lease; nil panics.
func WithNodeEnableLeaseV1(client LeaseClient, leaseDurationSeconds int32) NodeControllerOpt {
	if leaseDurationSeconds == 0 {
		leaseDurationSeconds = DefaultLeaseDuration
	}
	seconds := int(float64(leaseDurationSeconds) * DefaultRenewIntervalFraction)
	return WithNodeEnableLeaseV1WithRenewInterval(client, leaseDurationSeconds, time.Duration(seconds)*time.Second)
}

// WithNodeEnableLeaseV1WithRenewInterval gives the node a lease of that duration, renewed at that interval, which must be
// shorter; a duration of 0 means DefaultLeaseDuration. The client is the one of the namespace kube-node-lease; nil
// panics.
func WithNodeEnableLeaseV1WithRenewInterval(client LeaseClient, leaseDurationSeconds int32, interval time.Duration) NodeControllerOpt {
	if client == nil {
		panic("virtualnode: node lease: the client is nil")
	}
	if leaseDurationSeconds == 0 {
		leaseDurationSeconds = DefaultLeaseDuration
	}
	return func(n *NodeController) error {
		duration := time.Duration(leaseDurationSeconds) * time.Second
		switch {
		case n.lease != nil:
			return fmt.Errorf("node lease: %w: want one of the options for leases, once", ErrConflictingLeaseControllerConfiguration)
		case duration <= 0:
			return fmt.Errorf("node lease: duration: found %s, want more than 0", duration)
		case interval <= 0:
			return fmt.Errorf("node lease: renew interval: found %s for a duration of %s, want at least 1s: give a duration of 4s or more, or the interval itself",
				interval, duration)
		case interval >= duration:
			return fmt.Errorf("node lease: renew interval: found %s, want less than the duration of %s", interval, duration)
		}
		n.lease = &leaseKeeper{client: client, duration: leaseDurationSeconds, interval: interval}
		return nil
	}
}
