package recorder

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/timeline"
)

// Scope says which part of a cluster goes on the tape. The zero value is all
// of it. Everything is watched whole and filtered here, because a watch that
// the server filters misses nodes labelled late, pods not yet bound, and
// events that come before their object.
//
// In scope are
//
//   - nodes of the group: one of the providers' labels has the group as its
//     value, or, with a Selector, the labels match it;
//   - pods on nodes in scope, and pods without a node whose controller has
//     had pods in scope;
//   - PodDisruptionBudgets whose selector matches a pod in scope in their
//     namespace;
//   - Events about objects in scope, and about controllers of pods in scope.
//     An Event whose object is not known yet, or is a pod without a node,
//     waits up to five seconds for the decision, and the Events after it
//     wait with it, so that their order stays; they get the time at which
//     they were decided;
//   - other objects: those which name a node (spec.nodeName, status.nodeName,
//     status.nodeRef.name, an owner of kind Node, or, for CSINodes and node
//     Leases, their own name) with that node; those which carry a provider's
//     group label by its value; all that do neither.
//
// What was in scope once stays in it, by UID. What comes into scope late
// enters the tape with ADDED in its present state.
type Scope struct {
	// Nodegroup is the value of a provider's group label.
	Nodegroup string
	// Selector is a label selector of nodes, in place of a group.
	Selector string
	// Providers are the ones whose labels count; several mean that the right
	// one has to be found out.
	Providers []Provider

	// Pods, a label selector, and Namespace say on the tape whose roll it is, where
	// pods are updated in place. What is recorded doesn't depend on them.
	Pods      string
	Namespace string
}

// header is the scope as it is on the tape.
func (s *Scope) header() timeline.Scope {
	return timeline.Scope{Nodegroup: s.Nodegroup, Selector: s.Selector, Pods: s.Pods, Namespace: s.Namespace}
}

// Provider is a kind of node group.
type Provider struct {
	Name   string
	Labels []string // keys of node labels whose value is the group's name
}

// newScope returns nil where everything is in scope.
func newScope(c Scope) (*scope, error) {
	if c.Nodegroup == "" && c.Selector == "" {
		return nil, nil
	}
	s := &scope{
		group: c.Nodegroup, nodes: map[string]bool{}, mirrors: map[string]*object{}, onNode: map[string]map[*object]struct{}{},
		owned: map[string]map[*object]struct{}{}, owners: map[string]bool{},
		pods: map[string]map[*object]struct{}{}, budget: map[string]map[*object]struct{}{}, were: map[string]bool{}, groups: map[string]bool{},
	}
	if c.Selector != "" {
		if c.Nodegroup != "" {
			return nil, fmt.Errorf("scope: found both a node group (%s) and a selector (%s), want one", c.Nodegroup, c.Selector)
		}
		selector, err := labels.Parse(c.Selector)
		if err != nil {
			return nil, fmt.Errorf("selector %q: %w", c.Selector, err)
		}
		s.matches = func(l labels.Set) bool { return selector.Matches(l) }
		return s, nil
	}
	for _, p := range c.Providers {
		s.keys = append(s.keys, p.Labels...)
	}
	if len(s.keys) == 0 {
		return nil, fmt.Errorf("node group %q: found no provider whose labels could name it", c.Nodegroup)
	}
	s.matches = func(l labels.Set) bool {
		return slices.ContainsFunc(s.keys, func(key string) bool { return l[key] == s.group })
	}
	return s, nil
}
