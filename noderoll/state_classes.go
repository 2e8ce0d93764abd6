package noderoll

import (
	"maps"
	"slices"

	"github.com/nodesim/nodesim/internal/labelindex"
	"k8s.io/apimachinery/pkg/labels"
)

// space is one namespace.
type space struct {
	classes map[string]*podClass
	budgets map[string]*budgetRec
	// The same, found by labels.
	labelled  labelindex.ByLabel[*podClass]
	selecting *labelindex.Selecting[*budgetRec]
	// comparisons is what is left of labelindex.ComparisonsPerChange of all changes.
	comparisons int
}

type podClass struct {
	namespace string
	key       string
	labels    map[string]string
	ready     bool
	pending   bool // phase Pending: evicted without asking a budget
	pods      int
	budgets   map[*budgetRec]struct{}
	first     *budgetRec // of them by name; nil where that has to be found
	sole      *budgetRec // the only one that has to be asked; nil where there is none, or more
	double    bool       // there are more
	// draining counts the waiting pods of this class on each draining node.
	draining map[*nodeRec]int
}

func (b *podIndex) space(namespace string) *space {
	sp := b.spaces[namespace]
	if sp == nil {
		sp = &space{
			classes: make(map[string]*podClass), budgets: make(map[string]*budgetRec),
			labelled: labelindex.ByLabel[*podClass]{}, selecting: labelindex.NewSelecting[*budgetRec](),
		}
		b.spaces[namespace] = sp
	}
	return sp
}

func (b *podIndex) dropSpace(namespace string) {
	if sp := b.spaces[namespace]; sp != nil && len(sp.classes) == 0 && len(sp.budgets) == 0 {
		delete(b.spaces, namespace)
	}
}

// classFor finds the class of a pod, or founds it. The key is the sorted labels
// with the length of each part before it, so that no two sets share one.
func (s *State) classFor(p *Pod, pending bool) *podClass {
	b := &s.podIndex
	b.keys = b.keys[:0]
	for k := range p.Labels {
		b.keys = append(b.keys, k)
	}
	slices.Sort(b.keys)
	flags := byte(0)
	if p.Ready {
		flags |= 1
	}
	if pending {
		flags |= 2
	}
	b.scratch = append(b.scratch[:0], flags)
	for _, k := range b.keys {
		b.scratch = appendPart(b.scratch, k)
		b.scratch = appendPart(b.scratch, p.Labels[k])
	}
	sp := b.space(p.Namespace)
	sp.comparisons += labelindex.ComparisonsPerChange
	if c := sp.classes[string(b.scratch)]; c != nil {
		return c
	}
	c := &podClass{
		namespace: p.Namespace, key: string(b.scratch), labels: maps.Clone(p.Labels),
		ready: p.Ready, pending: pending,
	}
	sp.classes[c.key] = c
	sp.labelled.Add(c, c.labels)
	for budget := range sp.selecting.MayMatch(c.labels) {
		sp.comparisons--
		if budget.selector.Matches(labels.Set(c.labels)) {
			c.cover(budget)
		}
	}
	s.judge(sp, c)
	s.afford(p.Namespace, sp)
	return c
}

func appendPart(dst []byte, s string) []byte {
	n := len(s)
	dst = append(dst, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	return append(dst, s...)
}
