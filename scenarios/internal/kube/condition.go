package kube

import "slices"

// A Condition is one of a node's, a pod's, a budget's or a custom object's.
// Heartbeat is a node's, and a pod's lastProbeTime where it has one. Observed is the observedGeneration, 0 for none.
type Condition struct {
	Type, Status, Reason, Message string
	Heartbeat, Transition         Instant
	Observed                      int64
}

// Conditions are an object's, in the order in which they were first set.
type Conditions []Condition

// Get returns the condition of a type, or nil. It must not be changed.
func (cs Conditions) Get(kind string) *Condition {
	for i := range cs {
		if cs[i].Type == kind {
			return &cs[i]
		}
	}
	return nil
}

// Is reports whether the condition of a type has a status.
func (cs Conditions) Is(kind, status string) bool {
	c := cs.Get(kind)
	return c != nil && c.Status == status
}

// Set returns the conditions with c in its place, or after the others. Where the status stays what it was, so does
// the time of transition; elsewhere it is c's. cs stays as it is.
func (cs Conditions) Set(c Condition) Conditions {
	for i := range cs {
		if cs[i].Type != c.Type {
			continue
		}
		if cs[i].Status == c.Status {
			c.Transition = cs[i].Transition
		}
		if cs[i] == c {
			return cs
		}
		next := slices.Clone(cs)
		next[i] = c
		return next
	}
	next := make(Conditions, len(cs)+1) // which append would make twice as large
	copy(next, cs)
	next[len(cs)] = c
	return next
}

// Remove returns the conditions without a type. cs stays as it is.
func (cs Conditions) Remove(kind string) Conditions {
	i := slices.IndexFunc(cs, func(c Condition) bool { return c.Type == kind })
	if i < 0 {
		return cs
	}
	return slices.Delete(slices.Clone(cs), i, i+1)
}
