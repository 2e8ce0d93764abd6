package controller

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// leaseUpdates is the number of times that one renewal tries to update a lease that others write as well.
const leaseUpdates = 5

// A leaseKeeper renews the lease of one node: one PUT a renewal, made from the answer to the last one. It has no lock:
// only the rhythm of the renewals uses it.
type leaseKeeper struct {
	client   LeaseClient
	duration int32 // in seconds
	interval time.Duration

	cached   *coordinationv1.Lease // as the server answered last; nil if that isn't known
	renewals int
	failures int // in a row
}

// renewLease is one beat of the lease's rhythm. The first two follow at once upon each other: one creates or takes over the
// lease, the other one shows that it can be updated, and what is missing if it can't.
func (n *NodeController) renewLease(ctx context.Context) time.Duration {
	k := n.lease
	if n.pinger.health(ctx) != nil {
		return n.jitter(k.interval) // the lease expires, unless the provider comes back, which is a kick
	}
	if k.renewals > 1 { // before, the cache has hardly seen the node
		n.lookAround()
	}
	node, known := n.identity()
	if !known {
		return n.jitter(k.interval)
	}
	err := k.renew(ctx, node, n.clock.Now, n.status.kick)
	switch {
	case ctx.Err() != nil:
		return k.interval
	case err != nil:
		k.failures++
		n.grumble(ctx, err)
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

// clashes reports whether another client writes the lease, or its namespace isn't there yet: an API server makes that
// soon after its start.
func clashes(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}

// grumble says that the lease wasn't renewed: to the handler, or once in each row of failures to the log.
func (n *NodeController) grumble(ctx context.Context, err error) {
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
