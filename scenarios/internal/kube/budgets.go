package kube

import (
	"fmt"
	"slices"
)

// Budgets returns the budgets in the order of their creation.
func (s *Store) Budgets() []*Budget { return s.budgets.all }

// Budget returns the budget of a name, or nil.
func (s *Store) Budget(namespace, name string) *Budget { return s.budgets.byName[key{namespace, name}] }

// BudgetsOf returns the budgets that cover a pod.
func (s *Store) BudgetsOf(p *Pod) []*Budget {
	var some []*Budget
	for _, b := range s.budgetsIn[p.Namespace] {
		if b.Covers(p) {
			some = append(some, b)
		}
	}
	return some
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
	s.budgets.put(k, b)
	s.budgetsIn[b.Namespace] = append(s.budgetsIn[b.Namespace], b)
	s.emit(Added, "poddisruptionbudgets", &b.Meta, nil, whole(s, (*writer).budget, b))
	s.tellBudgets(Added, nil, b)
}

// UpdateBudget lets change work on a budget and writes what it did.
func (s *Store) UpdateBudget(b *Budget, change func(*Budget)) bool {
	if b.gone {
		return false
	}
	old := *b
	change(b)
	if !b.sameSpec(&old) {
		// As PrepareForUpdate of pkg/registry/policy/poddisruptionbudget.
		b.Generation = old.Generation + 1
	}
	patch := differ(s, (*writer).budget, &old, b)
	if patch == nil {
		return false
	}
	b.rv = s.version()
	s.emit(Modified, "poddisruptionbudgets", &b.Meta, patch, whole(s, (*writer).budget, b))
	s.tellBudgets(Modified, &old, b)
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
	s.budgetsIn[b.Namespace] = slices.DeleteFunc(slices.Clone(s.budgetsIn[b.Namespace]), func(o *Budget) bool { return o == b })
	s.emit(Deleted, "poddisruptionbudgets", &b.Meta, nil, nil)
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
