package invariant

import (
	"github.com/nodesim/nodesim/noderoll"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What holds for a PodDisruptionBudget.
var (
	budgetSum = &Invariant{
		Name:     "budget-sum",
		Sentence: "disruptionsAllowed is currentHealthy minus desiredHealthy, 0 where that is negative, no pod is expected or the sync failed, and less by what was granted since: at most one for each of disruptedPods.",
		Source:   "kube-controller-manager, pkg/controller/disruption/disruption.go, updatePdbStatus and failSafe; pkg/registry/core/pod/storage/eviction.go, checkAndDecrement",
	}
	budgetDesired = &Invariant{
		Name:     "budget-desired",
		Sentence: "desiredHealthy follows from spec and expectedPods: minAvailable, or expectedPods minus maxUnavailable; percentages are rounded up.",
		Source:   "kube-controller-manager, pkg/controller/disruption/disruption.go, getExpectedPodCount",
	}
	budgetCondition = &Invariant{
		Name:     "budget-condition",
		Sentence: "The condition DisruptionAllowed is True exactly while disruptionsAllowed is positive.",
		Source:   "component-helpers, apps/poddisruptionbudget/helpers.go, UpdateDisruptionAllowedCondition",
	}
)

var budgetInvariants = []*Invariant{budgetSum, budgetDesired, budgetCondition, budgetCounts}

// trackedBudget holds what is remembered of a budget.
type trackedBudget struct {
	selector   *metav1.LabelSelector
	matcher    labels.Selector // of selector; nil where that is odd
	allowed    int32
	stale      bool
	disrupted  []string       // the pods of disruptedPods, sorted
	left       fifo[leftName] // were among them a moment ago
	names      map[string]int // in left, how often
	closed     position       // where allowed fell to nothing
	conditions []trackedCondition
	// What of its pods the status says, and what they say.
	counted  bool // by the controller, for this spec
	healthy  int32
	ready    int
	away     int // of the ready ones, those in disrupted
	miscount standing
}

func (c *Checker) budget(h *trackedObject, o *policyv1.PodDisruptionBudget, s *step) {
	b := h.budget
	if b == nil {
		b = c.memory.budgets.take()
		*b = trackedBudget{names: map[string]int{}, closed: position{at: -1}, conditions: b.conditions[:0], disrupted: b.disrupted[:0]}
		h.budget = b
	}
	if b.matcher == nil || !noderoll.EqualSelectors(b.selector, o.Spec.Selector) {
		c.coverNone(h)
		b.selector = o.Spec.Selector.DeepCopy()
		b.matcher, _ = metav1.LabelSelectorAsSelector(b.selector)
		c.coverAll(h)
	}
	st := &o.Status
	if st.ObservedGeneration > o.Generation {
		c.report(h, observedNotAhead, "status.observedGeneration "+itoa(st.ObservedGeneration)+" at generation "+itoa(o.Generation), "no greater one")
	}
	counted := false
	if st.ObservedGeneration > 0 {
		failed := c.budgetStatus(h, o)
		counted = !failed && st.ObservedGeneration == o.Generation
	}
	c.granting(h, o, s)
	b.allowed, b.stale = st.DisruptionsAllowed, st.ObservedGeneration < o.Generation
	b.counted, b.healthy = counted, st.CurrentHealthy
	c.compareCount(h)
}

// budgetStatus checks a status that the disruption controller has written, and reports whether its sync failed.
func (c *Checker) budgetStatus(h *trackedObject, o *policyv1.PodDisruptionBudget) (failed bool) {
	st := &o.Status
	allowed := int64(st.DisruptionsAllowed)
	now := c.room[:0]
	for i := range st.Conditions {
		k := &st.Conditions[i]
		now = append(now, trackedCondition{typ: k.Type, status: string(k.Status), transition: k.LastTransitionTime.Time})
		if k.ObservedGeneration > o.Generation {
			c.report(h, observedNotAhead, "observedGeneration "+itoa(k.ObservedGeneration)+" of "+k.Type+" at generation "+itoa(o.Generation), "no greater one")
		}
		if k.Type != policyv1.DisruptionAllowedCondition {
			continue
		}
		failed = k.Reason == policyv1.SyncFailedReason
		if (k.Status == metav1.ConditionTrue) != (allowed > 0) {
			c.report(h, budgetCondition, "DisruptionAllowed "+string(k.Status)+" with disruptionsAllowed "+itoa(allowed), "it True exactly while that is positive")
		}
	}
	c.room = now
	h.budget.conditions = c.conditions(h, false, h.budget.conditions, now)
	most := max(0, int64(st.CurrentHealthy)-int64(st.DesiredHealthy))
	if st.ExpectedPods <= 0 {
		most = 0
	}
	least := max(0, most-int64(len(st.DisruptedPods)))
	if failed {
		least = 0
	}
	if allowed < least || allowed > most {
		want := itoa(most)
		if least != most {
			want = itoa(least) + " to " + itoa(most)
		}
		c.report(h, budgetSum, "disruptionsAllowed "+itoa(allowed)+" with currentHealthy "+itoa(int64(st.CurrentHealthy))+", desiredHealthy "+
			itoa(int64(st.DesiredHealthy))+", expectedPods "+itoa(int64(st.ExpectedPods)), want)
	}
	if st.ObservedGeneration == o.Generation && !failed {
		if want, ok := desiredHealthy(&o.Spec, st.ExpectedPods); ok && st.DesiredHealthy != want {
			c.report(h, budgetDesired, "desiredHealthy "+itoa(int64(st.DesiredHealthy))+" of expectedPods "+itoa(int64(st.ExpectedPods)), itoa(int64(want)))
		}
	}
	return failed
}

// desiredHealthy returns what the disruption controller computes.
func desiredHealthy(spec *policyv1.PodDisruptionBudgetSpec, expected int32) (int32, bool) {
	of := spec.MinAvailable
	if spec.MaxUnavailable != nil {
		of = spec.MaxUnavailable
	}
	if of == nil {
		return 0, false
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(of, int(expected), true)
	if err != nil {
		return 0, false
	}
	if spec.MaxUnavailable != nil {
		n = max(0, int(expected)-n)
	}
	return int32(n), true
}

func (c *Checker) budgetGone(h *trackedObject) { c.coverNone(h) }
