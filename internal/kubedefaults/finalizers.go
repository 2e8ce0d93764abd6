package kubedefaults

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Finalizers are those of an object that is deleted and had some: what the garbage collector has to do comes last
// (deletionFinalizersForGarbageCollection of k8s.io/apiserver/pkg/registry/generic/registry/store.go). Where the delete says
// nothing of dependents, what was asked for before stays, and else they are orphaned or not as is usual for the kind.
func Finalizers(had []string, opts *metav1.DeleteOptions, orphaned bool) []string {
	kept, last := []string{}, ""
	for _, f := range had {
		if f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents {
			last = f
			continue
		}
		kept = append(kept, f)
	}
	if orphaned && last == "" {
		last = metav1.FinalizerOrphanDependents
	}
	if p := opts.PropagationPolicy; p != nil {
		last = map[metav1.DeletionPropagation]string{
			metav1.DeletePropagationOrphan: metav1.FinalizerOrphanDependents, metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
		}[*p]
	}
	if orphans := opts.OrphanDependents; orphans != nil { //nolint:staticcheck // SA1019: old clients send it
		if last = ""; *orphans {
			last = metav1.FinalizerOrphanDependents
		}
	}
	if last == "" || slices.Contains(kept, last) {
		return kept
	}
	return append(kept, last)
}
