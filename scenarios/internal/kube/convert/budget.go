package convert

import (
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SelectionFromAPI are both halves of a budget's selector. None selects nothing, an empty one every pod.
func SelectionFromAPI(in *metav1.LabelSelector) (labels kube.Pairs, expressions []kube.Requirement) {
	if in == nil {
		return kube.Pairs{{Key: "nodesim.dev/selects-nothing"}}, nil
	}
	for i := range in.MatchExpressions {
		e := &in.MatchExpressions[i]
		expressions = append(expressions, kube.Requirement{Key: e.Key, Operator: string(e.Operator), Values: e.Values})
	}
	return pairs(in.MatchLabels), expressions
}

// BudgetFromAPI takes a budget over whole.
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
	b.Selects(SelectionFromAPI(in.Spec.Selector))
	b.ObservedGeneration = in.Status.ObservedGeneration
	b.DisruptionsAllowed, b.CurrentHealthy = int(in.Status.DisruptionsAllowed), int(in.Status.CurrentHealthy)
	b.DesiredHealthy, b.ExpectedPods = int(in.Status.DesiredHealthy), int(in.Status.ExpectedPods)
}
