package kube

import (
	"fmt"
	"slices"
)

// Budgets returns the budgets in the order of their creation.
func (s *Store) Budgets() []*Budget { return s.budgets.list() }

// Budget returns the budget of a name, or nil.
func (s *Store) Budget(namespace, name string) *Budget { return s.budgets.byName[key{namespace, name}] }

// BudgetsOf returns the budgets that cover a pod.
func (s *Store) BudgetsOf(p *Pod) []*Budget {
	return s.budgetsIn[p.Namespace].of(p)
}

// namespaceBudgets are the budgets of a namespace.
type namespaceBudgets struct {
	all []*Budget // in the order of their creation
	// byLabel are the places of those that ask for a label first, by that, and rest of the others; nil after a change.
	byLabel map[Pair][]int
	rest    []int
}

// fewBudgets is a number of budgets of which each is asked sooner than found.
const fewBudgets = 8

// of returns the budgets that cover a pod, in the order of their creation.
func (n *namespaceBudgets) of(p *Pod) []*Budget {
	var some []*Budget
	switch {
	case n == nil:
		return nil
	case len(n.all) <= fewBudgets:
		for _, b := range n.all {
			if b.Covers(p) {
				some = append(some, b)
			}
		}
		return some
	case n.byLabel == nil:
		n.index()
	}
	var at []int
	add := func(places []int) {
		for _, i := range places {
			if n.all[i].Covers(p) {
				at = append(at, i)
			}
		}
	}
	add(n.rest)
	for _, label := range p.Labels {
		add(n.byLabel[label])
	}
	slices.Sort(at)
	for _, i := range at {
		some = append(some, n.all[i])
	}
	return some
}

func (n *namespaceBudgets) index() {
	n.byLabel, n.rest = make(map[Pair][]int, len(n.all)), n.rest[:0]
	for i, b := range n.all {
		if len(b.Selector) == 0 {
			n.rest = append(n.rest, i)
			continue
		}
		n.byLabel[b.Selector[0]] = append(n.byLabel[b.Selector[0]], i)
	}
}

// enterBudget adds a budget to those of its namespace.
func (s *Store) enterBudget(k key, b *Budget) {
	s.budgets.put(k, b)
	n := s.budgetsIn[b.Namespace]
	if n == nil {
		n = &namespaceBudgets{}
		s.budgetsIn[b.Namespace] = n
	}
	n.all, n.byLabel = append(n.all, b), nil
}

// CreateBudget adds a budget.
func (s *Store) CreateBudget(b *Budget) error {
	k := key{b.Namespace, b.Name}
	if s.budgets.byName[k] != nil {
		return fmt.Errorf("poddisruptionbudgets.policy %q already exists", b.Name)
	}
	b.Generation = 1
	s.addBudget(k, b)
	return nil
}

// SeedBudget adds a budget with the status that it has: one that was there
// before the tape began, and that its controller has seen.
func (s *Store) SeedBudget(b *Budget) error {
	k := key{b.Namespace, b.Name}
	if s.budgets.byName[k] != nil {
		return fmt.Errorf("poddisruptionbudgets.policy %q already exists", b.Name)
	}
	b.Generation = max(b.Generation, 1)
	b.ObservedGeneration = b.Generation
	s.addBudget(k, b)
	return nil
}

func (s *Store) addBudget(k key, b *Budget) {
	s.stamp(&b.Meta)
	s.enterBudget(k, b)
	add(s, &ofBudgets, &b.Meta, b, nil)
	s.tellBudgets(Added, nil, b)
}

// UpdateBudget lets change work on a budget and writes what it did.
func (s *Store) UpdateBudget(b *Budget, change func(*Budget)) bool {
	if b.gone {
		return false
	}
	old := keep(s, &s.scratch.budget, b)
	change(b)
	if !b.sameSpec(old) {
		// As PrepareForUpdate of pkg/registry/policy/poddisruptionbudget.
		b.Generation = old.Generation + 1
		s.budgetsIn[b.Namespace].byLabel = nil
	}
	patch, is := changed(s, &ofBudgets, old, b)
	if !is {
		return false
	}
	b.rv = s.version()
	modify(s, &ofBudgets, &b.Meta, old, b, patch)
	s.tellBudgets(Modified, old, b)
	return true
}

// DeleteBudget removes a budget, and reports whether it was there.
func (s *Store) DeleteBudget(b *Budget) bool {
	if b.gone {
		return false
	}
	old := *b
	b.rv = s.version()
	b.gone = true
	s.budgets.drop(key{b.Namespace, b.Name})
	n := s.budgetsIn[b.Namespace]
	n.all, n.byLabel = slices.DeleteFunc(n.all, func(o *Budget) bool { return o == b }), nil
	remove(s, &ofBudgets, &b.Meta, b)
	s.tellBudgets(Deleted, &old, b)
	return true
}

func (s *Store) tellBudgets(c Change, old, b *Budget) {
	s.watching++
	for _, f := range s.watchers.budgets {
		f(c, old, b)
	}
	s.watching--
}
