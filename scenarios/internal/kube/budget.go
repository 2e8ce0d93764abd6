package kube

import "slices"

// Budget is a policy/v1 PodDisruptionBudget.
type Budget struct {
	Meta
	// MinAvailable and MaxUnavailable are a count or a percentage ("50%"); one
	// of them is set.
	MinAvailable, MaxUnavailable string
	Selector                     Pairs
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
	return b.Namespace == p.Namespace && p.Labels.Holds(b.Selector)
}

// sameSpec reports whether the specs of two states are alike.
func (b *Budget) sameSpec(old *Budget) bool {
	return b.MinAvailable == old.MinAvailable && b.MaxUnavailable == old.MaxUnavailable &&
		b.UnhealthyPodEvictionPolicy == old.UnhealthyPodEvictionPolicy && slices.Equal(b.Selector, old.Selector)
}
