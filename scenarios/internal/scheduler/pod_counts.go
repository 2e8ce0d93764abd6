package scheduler

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// What pods demand of other pods is found by counting: how many pods that a term selects are on each node, and how many
// that have a term themselves. Nothing is counted before the first pod with such a demand comes. From then on each pod
// on a node is counted once, by what it is now.

// podCounts are the counts, by the text of what is counted.
type podCounts struct {
	selected map[string]*podCount // at most mostSelected: they are counted again when they are asked for
	having   map[string]*podCount // of pods that are counted
	inOrder  []*podCount          // those of having
	pods     map[*kube.Pod]counted
}

// mostSelected bounds the selections that are counted: matchLabelKeys make one for each rollout, and the name of a
// StatefulSet's pod one for each pod.
const mostSelected = 512

// counted is how a pod was counted.
type counted struct {
	node   *schedNode
	labels kube.Pairs
	stays  bool // it isn't being deleted
	has    []*podCount
}

// podCount counts pods by the node's number.
type podCount struct {
	podSelection
	text        string
	topologyKey string
	weight      int  // of those that have the term; 0 is required
	against     bool // the term asks for none nearby
	onNode      []int32
	staying     []int32 // of these, those that aren't being deleted
	all         int
}

func (t *podCount) add(n *schedNode, by int32, stays bool) {
	if n.number >= len(t.onNode) {
		more := make([]int32, n.number+1-len(t.onNode)+len(t.onNode)/2)
		t.onNode, t.staying = append(t.onNode, more...), append(t.staying, more...)
	}
	t.onNode[n.number] += by
	if stays {
		t.staying[n.number] += by
	}
	t.all += int(by)
}

// on is how many pods are on a node, and how many of them stay.
func (t *podCount) on(n *schedNode) (all, staying int32) {
	if n.number < len(t.onNode) {
		return t.onNode[n.number], t.staying[n.number]
	}
	return 0, 0
}

// podSelection selects pods of some namespaces by their labels.
type podSelection struct {
	namespaces []string
	of         *kube.Selector // further namespaces; nil is none
	labels     *kube.Selector
}

func (p *podSelection) selects(namespace string, ofNamespace, labels kube.Pairs) bool {
	return (slices.Contains(p.namespaces, namespace) || p.of.Selects(ofNamespace)) && p.labels.Selects(labels)
}

func (p *podSelection) text() string {
	text := fmt.Sprint(p.namespaces, " ")
	for _, s := range [...]*kube.Selector{p.of, p.labels} {
		if s == nil {
			text += "nothing "
		} else {
			text += fmt.Sprintf("%q ", s.Requirements)
		}
	}
	return text
}

// selection is whom a pod's term means: the values of its matchLabelKeys are the pod's own.
func (s *Scheduler) selection(p *kube.Pod, t *kube.PodTerm) podSelection {
	s.byNamespace = s.byNamespace || t.NamespaceSelector != nil
	sel := podSelection{namespaces: t.Namespaces, of: t.NamespaceSelector, labels: narrowed(t.Selector, p.Labels, t.MatchLabelKeys, "In")}
	sel.labels = narrowed(sel.labels, p.Labels, t.MismatchLabelKeys, "NotIn")
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		sel.namespaces = []string{p.Namespace}
	}
	return sel
}

// narrowed is a selector that asks for, or rules out, a pod's own values of some labels too.
func narrowed(s *kube.Selector, own kube.Pairs, keys []string, operator string) *kube.Selector {
	if s == nil || len(keys) == 0 {
		return s
	}
	next := &kube.Selector{Requirements: slices.Clone(s.Requirements)}
	for _, k := range keys {
		if v, ok := own.Lookup(k); ok {
			next.Requirements = append(next.Requirements, kube.Requirement{Key: k, Operator: operator, Values: []string{v}})
		}
	}
	return next
}

// counts returns the count of pods that are selected.
func (s *Scheduler) counts(sel podSelection) *podCount {
	text := sel.text()
	t := s.podCounts.selected[text]
	if t == nil {
		if len(s.podCounts.selected) >= mostSelected {
			clear(s.podCounts.selected)
		}
		t = &podCount{podSelection: sel}
		for p, c := range s.podCounts.pods {
			if t.selects(p.Namespace, s.namespaces[p.Namespace], c.labels) {
				t.add(c.node, 1, c.stays)
			}
		}
		s.podCounts.selected[text] = t
	}
	return t
}

// having returns the counts of pods with a pod's terms, in the order of the terms.
func (s *Scheduler) having(p *kube.Pod) (all []*podCount) {
	d := p.Template.Demands
	if d == nil {
		return nil
	}
	of := func(terms []kube.PodTerm, against bool) {
		for i := range terms {
			sel := s.selection(p, &terms[i])
			text := fmt.Sprint(terms[i].TopologyKey, " ", terms[i].Weight, " ", against, " ", sel.text())
			t := s.podCounts.having[text]
			if t == nil {
				t = &podCount{podSelection: sel, text: text, topologyKey: terms[i].TopologyKey, weight: terms[i].Weight, against: against}
				s.podCounts.having[text] = t
				s.podCounts.inOrder = append(s.podCounts.inOrder, t)
			}
			all = append(all, t)
		}
	}
	of(d.AntiAffinity, true)
	of(d.Affinity, false)
	of(d.Likes, false)
	of(d.Dislikes, true)
	return all
}

// hasPodTerms reports whether a pod has terms about other pods: affinity, anti-affinity or spread.
func hasPodTerms(t *kube.Template) bool {
	d := t.Demands
	return d != nil && len(d.Affinity)+len(d.AntiAffinity)+len(d.Likes)+len(d.Dislikes)+len(d.Spread) > 0
}

// startCounting counts all pods on nodes.
func (s *Scheduler) startCounting() {
	if s.podCounts != nil {
		return
	}
	s.podCounts = &podCounts{selected: map[string]*podCount{}, having: map[string]*podCount{}, pods: map[*kube.Pod]counted{}}
	for _, p := range s.Env.API.Pods() {
		s.recount(p)
	}
}

// recount counts a pod as it is now.
func (s *Scheduler) recount(p *kube.Pod) {
	if hasPodTerms(p.Template) {
		s.startCounting()
	}
	ts := s.podCounts
	if ts == nil {
		return
	}
	was, had := ts.pods[p]
	n := s.holder(p)
	if p.Gone() || p.Terminal() {
		n = nil
	}
	if had && was.node == n && was.stays != p.Terminating() && slices.Equal(was.labels, p.Labels) || !had && n == nil {
		return
	}
	if had {
		s.count(p, was, -1)
		delete(ts.pods, p)
	}
	if n != nil {
		is := counted{node: n, labels: p.Labels, stays: !p.Terminating(), has: s.having(p)}
		ts.pods[p] = is
		s.count(p, is, 1)
	}
	s.version++
	s.wakeWithPodTerms()
}

func (s *Scheduler) count(p *kube.Pod, c counted, by int32) {
	for _, t := range s.podCounts.selected {
		if t.selects(p.Namespace, s.namespaces[p.Namespace], c.labels) {
			t.add(c.node, by, c.stays)
		}
	}
	for _, t := range c.has {
		if t.add(c.node, by, c.stays); t.all == 0 {
			s.podCounts.forget(t)
		}
	}
}

// forget forgets the count of a term that no pod has any more.
func (ts *podCounts) forget(t *podCount) {
	delete(ts.having, t.text)
	ts.inOrder = slices.DeleteFunc(ts.inOrder, func(o *podCount) bool { return o == t })
}

// uncountNode forgets the pods on a node that is gone.
func (s *Scheduler) uncountNode(n *schedNode) {
	if s.podCounts == nil {
		return
	}
	for p, c := range s.podCounts.pods {
		if c.node == n {
			s.count(p, c, -1)
			delete(s.podCounts.pods, p)
		}
	}
}

// wakeWithPodTerms has the parked pods tried again that have terms about others.
func (s *Scheduler) wakeWithPodTerms() {
	if s.parked == 0 {
		return
	}
	for _, c := range s.classes {
		if len(c.parked) > 0 && hasPodTerms(c.template) {
			s.wake(c)
		}
	}
}

// Namespace tells of a namespace's labels, by which terms may select it.
func (s *Scheduler) Namespace(name string, labels kube.Pairs) {
	if slices.Equal(s.namespaces[name], labels) {
		return
	}
	if s.namespaces == nil {
		s.namespaces = map[string]kube.Pairs{}
	}
	if s.namespaces[name] = labels; len(labels) == 0 {
		delete(s.namespaces, name)
	}
	if s.byNamespace && s.podCounts != nil {
		maps.DeleteFunc(s.podCounts.selected, func(_ string, t *podCount) bool { return t.of != nil })
		s.version++
		s.wakeWithPodTerms()
	}
}
