package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// leaseUpdates is the number of times that one renewal tries to update a lease that others write as well.
const leaseUpdates = 5

// A leaseKeeper renews the lease of one node: one PUT a renewal, made from the answer to the last one. It has no lock:
// only the task of the renewals uses it.
type leaseKeeper struct {
	client   LeaseClient
	duration int32 // in seconds
	interval time.Duration

	cached   *coordinationv1.Lease // as the server answered last; nil if that isn't known
	renewals int
	failures int // in a row
}

// renewLease is one turn of the lease's task. The first two follow at once upon each other: one creates or takes over the
// lease, the other one shows that it can be updated, and what is missing if it can't.
func (n *NodeController) renewLease(ctx context.Context) time.Duration {
	k := n.lease
	if n.pinger.health(ctx) != nil {
		return n.jitter(k.interval) // the lease expires, unless the provider comes back, which triggers it
	}
	if k.renewals > 1 { // before, the cache has hardly seen the node
		n.recheck()
	}
	node, known := n.identity()
	if !known {
		return n.jitter(k.interval)
	}
	err := n.renewInTurn(ctx, node)
	var ill *notReadyError
	switch {
	case ctx.Err() != nil:
		return k.interval
	case errors.As(err, &ill):
		return n.jitter(k.interval)
	case err != nil:
		k.failures++
		n.reportLeaseError(ctx, err)
		if passing(err) || clashes(err) {
			return min(n.backoff(k.failures), n.jitter(k.interval))
		}
		return n.jitter(k.interval)
	}
	if k.failures > 0 {
		klog.FromContext(ctx).Info("lease is renewed again", "node", node.name, "failures", k.failures)
		k.failures = 0
	}
	if k.renewals++; k.renewals == 1 {
		return 0
	}
	return n.jitter(k.interval)
}

// renewInTurn is one renewal, in its turn. Where the provider doesn't say any more that the node lives, it is none.
func (n *NodeController) renewInTurn(ctx context.Context, node identity) error {
	if n.limit.renewals == nil {
		return n.lease.renew(ctx, node, n.clock.Now, n.status.trigger)
	}
	enough := n.clock.NewTimer(time.Duration(n.lease.duration) * time.Second / 2)
	defer enough.Stop()
	return n.limit.renewals.take(ctx, enough.C(), func(ctx context.Context) error {
		if ill := n.pinger.health(ctx); ill != nil {
			return &notReadyError{ill}
		}
		return n.lease.renew(ctx, node, n.clock.Now, n.status.trigger)
	})
}

// clashes reports whether another client writes the lease, or its namespace isn't there yet: an API server makes that
// soon after its start.
func clashes(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}

// reportLeaseError says that the lease wasn't renewed: to the handler, or once in each row of failures to the log.
func (n *NodeController) reportLeaseError(ctx context.Context, err error) {
	if n.leaseTrouble != nil {
		if err = n.leaseTrouble(ctx, err); err != nil {
			klog.FromContext(ctx).Error(err, "lease not renewed", "node", n.name)
		}
		return
	}
	if n.lease.failures == 1 {
		klog.FromContext(ctx).Error(err, "lease not renewed, trying again", "node", n.name)
	}
}

// renew updates the lease, or creates it. Where the lease is gone the node may be, too: gone is told.
func (k *leaseKeeper) renew(ctx context.Context, node identity, now func() time.Time, gone func()) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var err error
	for range leaseUpdates {
		base := k.cached
		if base == nil {
			var created bool
			base, created, err = k.ensure(ctx, node, now())
			if err != nil {
				return err
			}
			if created {
				k.keep(base)
				return nil
			}
		}
		var lease *coordinationv1.Lease
		lease, err = k.client.Update(ctx, renewed(base, node, k.duration, now()), metav1.UpdateOptions{})
		if err == nil {
			k.keep(lease)
			return nil
		}
		k.cached = nil // the server's state is unknown
		err = fmt.Errorf("renew lease %s: %w", node.name, err)
		switch {
		case apierrors.IsNotFound(err):
			gone()
		case !apierrors.IsConflict(err):
			return err
		}
	}
	return err
}

// ensure returns the lease as it is on the server, or creates it.
func (k *leaseKeeper) ensure(ctx context.Context, node identity, now time.Time) (lease *coordinationv1.Lease, created bool, err error) {
	lease, err = k.client.Get(ctx, node.name, metav1.GetOptions{})
	if err == nil {
		return lease, false, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, false, fmt.Errorf("get lease %s: %w", node.name, err)
	}
	lease, err = k.client.Create(ctx, newLease(node, k.duration, now), metav1.CreateOptions{})
	if err != nil {
		return nil, false, fmt.Errorf("create lease %s: %w", node.name, err)
	}
	return lease, true, nil
}

// keep remembers the server's answer, without what is of no use.
func (k *leaseKeeper) keep(lease *coordinationv1.Lease) {
	lease.ManagedFields = nil
	k.cached = lease
}

// newLease is the lease of a node that has none yet.
func newLease(node identity, duration int32, now time.Time) *coordinationv1.Lease {
	return renewed(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: node.name, Namespace: corev1.NamespaceNodeLease},
	}, node, duration, now)
}

// renewed is a lease as the node renews it now. It shares what it doesn't change with the one that it is made from, which
// stays as it is: a renewal costs no deep copy.
//
// The renew time always rises, also where the clock was set back: a node lifecycle controller believes in a renewal only
// if its time is later than the one that it has seen before (k8s.io/kubernetes,
// pkg/controller/nodelifecycle/node_lifecycle_controller.go, tryUpdateNodeHealth).
func renewed(from *coordinationv1.Lease, node identity, duration int32, now time.Time) *coordinationv1.Lease {
	lease := *from
	if before := from.Spec.RenewTime; before != nil && !now.After(before.Time) {
		now = before.Add(time.Microsecond)
	}
	lease.ManagedFields = nil // the server keeps its own
	lease.OwnerReferences = owned(from.OwnerReferences, node)
	lease.Spec.HolderIdentity = ptr.To(node.name)
	lease.Spec.LeaseDurationSeconds = ptr.To(duration)
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now))
	return &lease
}

// owned has the node, as it is now, own what had these owners: nodes of that name that are gone don't any more.
func owned(owners []metav1.OwnerReference, node identity) []metav1.OwnerReference {
	own := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node.name, UID: node.uid}
	if slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return o.Kind == own.Kind && o.UID == own.UID }) {
		return owners
	}
	others := make([]metav1.OwnerReference, 0, len(owners)+1)
	for _, o := range owners {
		if o.Kind != own.Kind || o.Name != own.Name {
			others = append(others, o)
		}
	}
	return append(others, own)
}

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
