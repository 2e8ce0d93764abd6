package convert

import (
	"strconv"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// noBudget is what a budget was before it came.
var noBudget kube.Budget

func (o *Observed) budget(ev *timeline.Event, old, b *kube.Budget) metav1.Object {
	to, fresh := o.budgets.of(ev, &b.Beside)
	if fresh {
		*to = policyv1.PodDisruptionBudget{
			ObjectMeta: begin(ev), Status: policyv1.PodDisruptionBudgetStatus{Conditions: to.Status.Conditions[:0], DisruptedPods: to.Status.DisruptedPods},
		}
		clear(to.Status.DisruptedPods)
		to.Spec.Selector = selector(b)
		old = &noBudget
	}
	to.ResourceVersion = ev.RV
	if old == nil {
		return to
	}
	o.meta(&to.ObjectMeta, &old.Meta, &b.Meta)
	if old != &noBudget && !b.SameSelector(old) {
		to.Spec.Selector = selector(b)
	}
	spec := &to.Spec
	if old.MinAvailable != b.MinAvailable {
		spec.MinAvailable = amount(b.MinAvailable)
	}
	if old.MaxUnavailable != b.MaxUnavailable {
		spec.MaxUnavailable = amount(b.MaxUnavailable)
	}
	if policy := policyv1.UnhealthyPodEvictionPolicyType(b.UnhealthyPodEvictionPolicy); old.UnhealthyPodEvictionPolicy != b.UnhealthyPodEvictionPolicy {
		spec.UnhealthyPodEvictionPolicy = nil
		if policy != "" {
			spec.UnhealthyPodEvictionPolicy = &policy
		}
	}
	status(&to.Status, old, b)
	return to
}

// status sets what has changed of a budget's status.
func status(s *policyv1.PodDisruptionBudgetStatus, old, b *kube.Budget) {
	s.ObservedGeneration = b.ObservedGeneration
	s.DisruptionsAllowed, s.CurrentHealthy = small(b.DisruptionsAllowed), small(b.CurrentHealthy)
	s.DesiredHealthy, s.ExpectedPods = small(b.DesiredHealthy), small(b.ExpectedPods)
	if !kube.Identical(old.DisruptedPods, b.DisruptedPods) {
		if s.DisruptedPods == nil {
			s.DisruptedPods = map[string]metav1.Time{}
		}
		clear(s.DisruptedPods)
		for _, d := range b.DisruptedPods {
			s.DisruptedPods[d.Pod] = metav1.Time{Time: second(d.At)}
		}
	}
	if !kube.Identical(old.Conditions, b.Conditions) {
		s.Conditions = s.Conditions[:0]
		for i := range b.Conditions {
			c := &b.Conditions[i]
			s.Conditions = append(s.Conditions, metav1.Condition{
				Type: c.Type, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, ObservedGeneration: c.Observed,
				LastTransitionTime: metav1.Time{Time: second(c.Transition)},
			})
		}
	}
}

func selector(b *kube.Budget) *metav1.LabelSelector {
	s := &metav1.LabelSelector{}
	for _, p := range b.Selector {
		if s.MatchLabels == nil {
			s.MatchLabels = map[string]string{}
		}
		s.MatchLabels[p.Key] = p.Value
	}
	for i := range b.Expressions {
		r := &b.Expressions[i]
		s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values})
	}
	return s
}

// amount is a number or a percentage.
func amount(text string) *intstr.IntOrString {
	v := intstr.FromString(text)
	if n, err := strconv.Atoi(text); err == nil {
		v = intstr.FromInt32(small(n))
	}
	return &v
}
