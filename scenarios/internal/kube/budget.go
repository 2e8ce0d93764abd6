package kube

import "slices"

// Budget is a policy/v1 PodDisruptionBudget.
type Budget struct {
	Meta
	// MinAvailable and MaxUnavailable are a count or a percentage ("50%"); one
	// of them is set.
	MinAvailable, MaxUnavailable string
	Selector                     Pairs
	// Expressions are the selector's matchExpressions: all of them must hold as well.
	Expressions []Requirement
	// UnhealthyPodEvictionPolicy is "", IfHealthyBudget or AlwaysAllow.
	UnhealthyPodEvictionPolicy string

	ObservedGeneration                                               int64
	DisruptedPods                                                    []Disrupted // in the order of their names
	DisruptionsAllowed, CurrentHealthy, DesiredHealthy, ExpectedPods int
	Conditions                                                       Conditions
}

// Disrupted is a pod whose eviction the API server has granted and the
// disruption controller has not yet seen.
type Disrupted struct {
	Pod string
	At  Instant
}

// Covers reports whether the budget selects a pod.
func (b *Budget) Covers(p *Pod) bool {
	if b.Namespace != p.Namespace || !p.Labels.Holds(b.Selector) {
		return false
	}
	for i := range b.Expressions {
		if value, there := p.Labels.Lookup(b.Expressions[i].Key); !b.Expressions[i].holds(value, there) {
			return false
		}
	}
	return true
}

// SameSelector reports whether two states select the same pods by the same words.
func (b *Budget) SameSelector(old *Budget) bool {
	return slices.Equal(b.Selector, old.Selector) && slices.EqualFunc(b.Expressions, old.Expressions, func(a, b Requirement) bool {
		return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
	})
}

// Selects has the budget select pods by both halves of a selector.
func (b *Budget) Selects(labels Pairs, expressions []Requirement) {
	b.Selector, b.Expressions = labels, expressions
}

// sameSpec reports whether the specs of two states are alike.
func (b *Budget) sameSpec(old *Budget) bool {
	return b.MinAvailable == old.MinAvailable && b.MaxUnavailable == old.MaxUnavailable &&
		b.UnhealthyPodEvictionPolicy == old.UnhealthyPodEvictionPolicy && b.SameSelector(old)
}
