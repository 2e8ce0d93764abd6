package controller

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

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
