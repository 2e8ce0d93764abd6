package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// MergeTaints returns the live taints of a node without those that were applied and are wanted no more, with the wanted
// ones at the end where they were missing, and whether that differs from live. A taint is told from another one by key
// and effect; of one that is there the value is written, and the time where the wanted one has it. No argument is changed.
func MergeTaints(live, wanted, applied []corev1.Taint) (merged []corev1.Taint, changed bool) {
	merged = make([]corev1.Taint, 0, len(live)+len(wanted))
	for _, taint := range live {
		if i := taintIndex(wanted, taint); i >= 0 {
			changed = changed || taint.Value != wanted[i].Value
			taint.Value = wanted[i].Value
			if wanted[i].TimeAdded != nil {
				changed = changed || !wanted[i].TimeAdded.Equal(taint.TimeAdded)
				taint.TimeAdded = wanted[i].TimeAdded
			}
		} else if taintIndex(applied, taint) >= 0 {
			changed = true
			continue
		}
		merged = append(merged, taint)
	}
	for _, taint := range wanted {
		if taintIndex(merged, taint) < 0 {
			merged, changed = append(merged, taint), true
		}
	}
	return merged, changed
}

func taintIndex(taints []corev1.Taint, one corev1.Taint) int {
	return slices.IndexFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&one) })
}
