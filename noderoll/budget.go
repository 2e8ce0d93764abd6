package noderoll

import (
	"fmt"
	"maps"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Budget holds what a roll needs to know of a PodDisruptionBudget. Selector may be
// shared with the object it was made from; nothing here writes to it.
type Budget struct {
	Namespace string
	Name      string
	// Selector chooses pods of the namespace: nil none, the empty one all
	// (policy/v1, PodDisruptionBudgetSpec).
	Selector *metav1.LabelSelector
	// EvictUnhealthy is the policy AlwaysAllow for pods that are not ready.
	EvictUnhealthy bool
	// Stale says that the status is older than the spec: the server refuses
	// evictions until the controller has caught up.
	Stale bool

	DisruptionsAllowed int32
	CurrentHealthy     int32
	DesiredHealthy     int32
}

// BudgetFrom extracts what a roll needs from a PodDisruptionBudget. It shares the
// object's selector.
func BudgetFrom(o *policyv1.PodDisruptionBudget) Budget {
	policy := o.Spec.UnhealthyPodEvictionPolicy
	return Budget{
		Namespace:          o.Namespace,
		Name:               o.Name,
		Selector:           o.Spec.Selector,
		EvictUnhealthy:     policy != nil && *policy == policyv1.AlwaysAllow,
		Stale:              o.Status.ObservedGeneration < o.Generation,
		DisruptionsAllowed: o.Status.DisruptionsAllowed,
		CurrentHealthy:     o.Status.CurrentHealthy,
		DesiredHealthy:     o.Status.DesiredHealthy,
	}
}

// refuses reports whether the eviction of a running pod that this budget alone
// covers is answered with "not now", as pkg/registry/core/pod/storage/eviction.go
// of Kubernetes decides: an unready pod may go under AlwaysAllow, or while the
// budget is met; any other only while the status is current and allows it.
func (b *Budget) refuses(ready bool) bool {
	if !ready && (b.EvictUnhealthy || b.CurrentHealthy >= b.DesiredHealthy && b.DesiredHealthy > 0) {
		return false
	}
	return b.Stale || b.DisruptionsAllowed <= 0
}

// why says in the words of the server why it refuses.
func (b *Budget) why() string {
	if b.Stale {
		return "the budget is still being processed by the server"
	}
	return fmt.Sprintf("needs %d healthy pods and has %d", b.DesiredHealthy, b.CurrentHealthy)
}

// EqualSelectors reports whether two selectors are written alike, element by element and in order.
func EqualSelectors(a, b *metav1.LabelSelector) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || !maps.Equal(a.MatchLabels, b.MatchLabels) {
		return false
	}
	return slices.EqualFunc(a.MatchExpressions, b.MatchExpressions,
		func(x, y metav1.LabelSelectorRequirement) bool {
			return x.Key == y.Key && x.Operator == y.Operator && slices.Equal(x.Values, y.Values)
		})
}
