package convert

import (
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	policyv1 "k8s.io/api/policy/v1"
)

// BudgetFromAPI takes a budget over whole. Only selectors of labels are known to the
// simulation; one with expressions selects nothing there, and all the same on the
// server, which is asked for every eviction.
func BudgetFromAPI(b *kube.Budget, in *policyv1.PodDisruptionBudget, c Clock) {
	b.Namespace, b.Name = in.Namespace, in.Name
	c.meta(&b.Meta, &in.ObjectMeta)
	b.MinAvailable, b.MaxUnavailable, b.UnhealthyPodEvictionPolicy = "", "", ""
	if in.Spec.MinAvailable != nil {
		b.MinAvailable = in.Spec.MinAvailable.String()
	}
	if in.Spec.MaxUnavailable != nil {
		b.MaxUnavailable = in.Spec.MaxUnavailable.String()
	}
	if in.Spec.UnhealthyPodEvictionPolicy != nil {
		b.UnhealthyPodEvictionPolicy = string(*in.Spec.UnhealthyPodEvictionPolicy)
	}
	b.Selector = kube.Pairs{{Key: "nodesim.dev/selects-nothing"}}
	if s := in.Spec.Selector; s != nil && len(s.MatchExpressions) == 0 {
		b.Selector = pairs(s.MatchLabels)
	}
	b.ObservedGeneration = in.Status.ObservedGeneration
	b.DisruptionsAllowed, b.CurrentHealthy = int(in.Status.DisruptionsAllowed), int(in.Status.CurrentHealthy)
	b.DesiredHealthy, b.ExpectedPods = int(in.Status.DesiredHealthy), int(in.Status.ExpectedPods)
}
