package tables

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/utils/ptr"
)

func leases() *Printer {
	return typed(func(l *coordinationv1.Lease, now time.Time) []any {
		return []any{l.Name, ptr.Deref(l.Spec.HolderIdentity, ""), since(l.CreationTimestamp, now)}
	}, nameColumn(), text("Holder", doc(coordinationv1.LeaseSpec{}, "holderIdentity")), ageColumn())
}

// leaseCandidates has two columns that the API server leaves without description.
func leaseCandidates() *Printer {
	return typed(func(c *coordinationv1beta1.LeaseCandidate, now time.Time) []any {
		return []any{c.Name, c.Spec.LeaseName, c.Spec.BinaryVersion, c.Spec.EmulationVersion, since(c.CreationTimestamp, now)}
	},
		nameColumn(),
		text("LeaseName", doc(coordinationv1alpha2.LeaseCandidateSpec{}, "leaseName")),
		text("BinaryVersion", ""),
		text("EmulationVersion", ""),
		ageColumn(),
	)
}
