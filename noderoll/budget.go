package noderoll

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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

type budgetRec struct {
	Budget
	selector labels.Selector
	classes  map[*podClass]struct{}
}

func (c *podClass) cover(b *budgetRec) {
	at, _ := slices.BinarySearchFunc(c.budgets, b.Name, func(x *budgetRec, name string) int { return strings.Compare(x.Name, name) })
	c.budgets = slices.Insert(c.budgets, at, b)
	b.classes[c] = struct{}{}
}

// judge reports whether the server refuses to evict a pod of this class, as
// pkg/registry/core/pod/storage/eviction.go of Kubernetes does: pending pods go
// without asking, and a pod under two budgets never goes.
func (c *podClass) judge() bool {
	switch {
	case c.pending || len(c.budgets) == 0:
		return false
	case len(c.budgets) > 1:
		return true
	}
	return c.budgets[0].refuses(c.ready)
}

// review judges a class again and carries a change to the draining nodes.
func (s *State) review(c *podClass) {
	refused := c.judge()
	if refused == c.refused {
		return
	}
	c.refused = refused
	for n, pods := range c.draining {
		if !refused {
			pods = -pods
		}
		n.refused += pods
		s.note(n)
	}
}

// held reports whether budgets refuse every pod that the drain of the node has
// still to evict. The figures are kept while the node is draining only.
func (n *nodeRec) held() bool { return n.remaining > 0 && n.refused == n.remaining }

// obstacle is the first budget, by name, of those that hold up the drain of the
// node, nil where none does, and whether a pod has more than one.
func (n *nodeRec) obstacle() (first *budgetRec, double bool) {
	if !n.held() {
		return nil, false
	}
	for _, p := range n.pods {
		if !p.waits {
			continue
		}
		for _, b := range p.class.budgets {
			if first == nil || b.Namespace < first.Namespace || b.Namespace == first.Namespace && b.Name < first.Name {
				first, double = b, len(p.class.budgets) > 1
			}
		}
	}
	return first, double
}

// SetBudget adds a budget or replaces what was known of it. A selector that
// can't be parsed matches nothing, as for the server.
func (s *State) SetBudget(in Budget) {
	sp := s.podIndex.space(in.Namespace)
	b := sp.budgets[in.Name]
	if b != nil && EqualSelectors(b.Selector, in.Selector) {
		in.Selector = b.Selector
		b.Budget = in
		for c := range b.classes {
			s.review(c)
		}
		return
	}
	if b != nil {
		s.DeleteBudget(in.Namespace, in.Name)
		sp = s.podIndex.space(in.Namespace)
	}
	selector, err := metav1.LabelSelectorAsSelector(in.Selector)
	if err != nil {
		selector = labels.Nothing()
	}
	b = &budgetRec{Budget: in, selector: selector, classes: make(map[*podClass]struct{})}
	b.Selector = in.Selector.DeepCopy()
	sp.budgets[in.Name] = b
	sp.selecting.Add(b, selector)
	for c := range sp.labelled.MayMatch(selector, maps.Values(sp.classes)) {
		if selector.Matches(labels.Set(c.labels)) {
			c.cover(b)
			s.review(c)
		}
	}
}

// DeleteBudget removes a budget.
func (s *State) DeleteBudget(namespace, name string) {
	sp := s.podIndex.spaces[namespace]
	if sp == nil || sp.budgets[name] == nil {
		return
	}
	b := sp.budgets[name]
	delete(sp.budgets, name)
	sp.selecting.Remove(b)
	for c := range b.classes {
		c.budgets = slices.DeleteFunc(c.budgets, func(x *budgetRec) bool { return x == b })
		s.review(c)
	}
	s.podIndex.dropSpace(namespace)
}
