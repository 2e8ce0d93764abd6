package noderoll

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nodesim/nodesim/internal/labelindex"
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

// Refuses reports whether the eviction of a running pod that this budget alone
// covers is answered with "not now", as pkg/registry/core/pod/storage/eviction.go
// of Kubernetes decides: an unready pod may go under AlwaysAllow, or while the
// budget is met; any other only while the status is current and allows it.
func (b *Budget) Refuses(ready bool) bool {
	if !ready && (b.EvictUnhealthy || b.CurrentHealthy >= b.DesiredHealthy && b.DesiredHealthy > 0) {
		return false
	}
	return b.Stale || b.DisruptionsAllowed <= 0
}

// Why says in the words of the server why it refuses.
func (b *Budget) Why() string {
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

// budgetRec is a budget with the classes that it covers.
type budgetRec struct {
	Budget
	selector labels.Selector
	classes  map[*podClass]struct{}
	alone    [2]aloneUnder // by readiness: not Ready, Ready
}

// aloneUnder is what a budget says to the pods of one readiness that no other budget
// covers, and how many of them wait on each draining node. A change of the budget's
// status costs those nodes, however many label sets the pods have.
type aloneUnder struct {
	refused bool
	waiting map[*nodeRec]int
}

func (b *budgetRec) under(ready bool) *aloneUnder {
	if ready {
		return &b.alone[1]
	}
	return &b.alone[0]
}

// wait counts waiting pods of a node in, or out where by is negative.
func (a *aloneUnder) wait(n *nodeRec, by int) {
	if a.waiting == nil {
		a.waiting = make(map[*nodeRec]int)
	}
	if a.waiting[n] += by; a.waiting[n] == 0 {
		delete(a.waiting, n)
	}
}

// refusedNow reports whether the server refuses to evict a pod of this class, as
// pkg/registry/core/pod/storage/eviction.go of Kubernetes does: pending pods go
// without asking, and a pod under two budgets never goes.
func (c *podClass) refusedNow() bool {
	return c.double || c.sole != nil && c.sole.under(c.ready).refused
}

// cover notes that a budget covers a class, and uncover that it no longer does; the
// class is judged afterwards.
func (c *podClass) cover(b *budgetRec) {
	if c.budgets == nil {
		c.budgets = make(map[*budgetRec]struct{})
	}
	c.budgets[b] = struct{}{}
	b.classes[c] = struct{}{}
	if c.first != nil && b.Name < c.first.Name {
		c.first = b
	}
}

func (c *podClass) uncover(b *budgetRec) {
	delete(c.budgets, b)
	delete(b.classes, c)
	if c.first == b {
		c.first = nil
	}
}

// firstBudget is the first by name of those that cover the class, nil for none.
func (c *podClass) firstBudget() *budgetRec {
	if c.first == nil {
		for b := range c.budgets {
			if c.first == nil || b.Name < c.first.Name {
				c.first = b
			}
		}
	}
	return c.first
}

// judge decides after a change of budgets which of them the pods of a class have to
// ask, and carries the change to the draining nodes.
func (s *State) judge(sp *space, c *podClass) {
	was, sole := c.refusedNow(), c.sole
	c.double, c.sole = !c.pending && len(c.budgets) > 1, nil
	if !c.pending && len(c.budgets) == 1 {
		c.sole = c.firstBudget()
	}
	now := c.refusedNow()
	if c.sole == sole && now == was {
		return
	}
	sp.comparisons -= len(c.draining)
	for n, pods := range c.draining {
		if sole != nil {
			sole.under(c.ready).wait(n, -pods)
		}
		if c.sole != nil {
			c.sole.under(c.ready).wait(n, pods)
		}
		if now != was {
			s.refuse(n, pods, now)
		}
	}
}

// refuse counts pods of a node as refused, or as no longer refused.
func (s *State) refuse(n *nodeRec, pods int, refused bool) {
	if !refused {
		pods = -pods
	}
	n.refused += pods
	if !refused {
		n.pardon()
	}
	s.note(n)
}

// review asks a budget again, whose status may have changed.
func (s *State) review(b *budgetRec) {
	for i := range b.alone {
		a := &b.alone[i]
		if now := b.Refuses(i == 1); now != a.refused {
			a.refused = now
			for n, pods := range a.waiting {
				s.refuse(n, pods, now)
			}
		}
	}
}

// held reports whether budgets refuse every pod that the drain of the node has
// still to evict, or the server has refused one of them by its word: those that it
// grants are on their way out. The figures are kept while the node is draining only.
func (n *nodeRec) held() bool {
	return n.remaining > 0 && (n.refused == n.remaining || len(n.denials) > 0)
}

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
		b := p.class.firstBudget()
		if b != nil && (first == nil || b.Namespace < first.Namespace || b.Namespace == first.Namespace && b.Name < first.Name) {
			first, double = b, len(p.class.budgets) > 1
		}
	}
	return first, double
}

// SetBudget adds a budget or replaces what was known of it. A selector that
// can't be parsed matches nothing, as for the server.
//
// Where the budgets of a namespace and the label sets of its pods need more than 128
// comparisons for each change, none of its budgets counts from then on, and
// Snapshot.BudgetsError says so.
func (s *State) SetBudget(in Budget) {
	if s.podIndex.unfollowed[in.Namespace] {
		return
	}
	sp := s.podIndex.space(in.Namespace)
	b := sp.budgets[in.Name]
	if b != nil && EqualSelectors(b.Selector, in.Selector) {
		in.Selector = b.Selector
		b.Budget = in
		s.review(b)
		return
	}
	if b != nil {
		s.DeleteBudget(in.Namespace, in.Name)
		sp = s.podIndex.space(in.Namespace)
	}
	sp.comparisons += labelindex.ComparisonsPerChange
	selector, err := metav1.LabelSelectorAsSelector(in.Selector)
	if err != nil {
		selector = labels.Nothing()
	}
	b = &budgetRec{Budget: in, selector: selector, classes: make(map[*podClass]struct{})}
	b.Selector = in.Selector.DeepCopy()
	s.review(b)
	sp.budgets[in.Name] = b
	sp.selecting.Add(b, selector)
	for c := range sp.labelled.MayMatch(selector, maps.Values(sp.classes)) {
		sp.comparisons--
		if selector.Matches(labels.Set(c.labels)) {
			c.cover(b)
			s.judge(sp, c)
		}
	}
	s.afford(in.Namespace, sp)
}

// DeleteBudget removes a budget.
func (s *State) DeleteBudget(namespace, name string) {
	sp := s.podIndex.spaces[namespace]
	if sp == nil || sp.budgets[name] == nil {
		return
	}
	sp.comparisons += labelindex.ComparisonsPerChange
	b := sp.budgets[name]
	delete(sp.budgets, name)
	sp.selecting.Remove(b)
	for c := range b.classes {
		c.uncover(b)
		s.judge(sp, c)
	}
	s.afford(namespace, sp)
	s.podIndex.dropSpace(namespace)
}

// afford lets go of the budgets of a namespace that need too many comparisons.
func (s *State) afford(namespace string, sp *space) {
	if sp.comparisons >= 0 || s.podIndex.unfollowed[namespace] {
		return
	}
	if s.podIndex.unfollowed == nil {
		s.podIndex.unfollowed = make(map[string]bool)
	}
	s.podIndex.unfollowed[namespace] = true
	for _, c := range sp.classes {
		c.budgets, c.first = nil, nil
		s.judge(sp, c)
	}
	clear(sp.budgets)
	sp.selecting = labelindex.NewSelecting[*budgetRec]()
}

// budgetsError says of which namespaces the budgets don't count.
func (b *podIndex) budgetsError() string {
	if len(b.unfollowed) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(b.unfollowed))
	more := ""
	if len(names) > 1 {
		more = fmt.Sprintf(" and of %d more", len(names)-1)
	}
	return fmt.Sprintf("namespace %q%s: its budgets select too many label sets of pods to compare", names[0], more)
}
