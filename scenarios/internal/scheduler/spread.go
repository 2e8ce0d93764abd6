package scheduler

import (
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// spread is a topologySpreadConstraint of one pod at a moment (preFilterState of
// pkg/scheduler/framework/plugins/podtopologyspread/filtering.go). A constraint counts the pods that it selects, those of
// other workloads too, if they aren't being deleted.
type spread struct {
	of      *kube.SpreadTerm
	labels  *kube.Selector // with the pod's own values of matchLabelKeys
	counted *podCount
	counts  map[string]int // by the value of the label, of all that there are
	own     int            // 1 where the pod itself counts
	least   int
}

func (s *Scheduler) spreadBy(p *kube.Pod, term *kube.SpreadTerm) spread {
	all := narrowed(term.Selector, p.Labels, term.MatchLabelKeys, "In")
	sel := podSelection{namespaces: []string{p.Namespace}, labels: all}
	if sel.labels != nil && len(sel.labels.Requirements) == 0 {
		sel.labels = nil // countPodsMatchSelector: one that selects all counts none
	}
	one := spread{of: term, labels: all, counted: s.counts(sel), counts: map[string]int{}}
	if all.Selects(p.Labels) {
		one.own = 1
	}
	return one
}

// countSpread counts by all nodes that count: those with the labels of all constraints, and as the policies of each say.
func (s *Scheduler) countSpread(all []spread, p *kube.Pod) {
	for _, n := range s.nodes {
		if !labelled(n, all) {
			continue
		}
		for i := range all {
			if one := &all[i]; one.includes(n, p) {
				_, pods := one.counted.on(n)
				one.counts[n.node.Labels.Get(one.of.TopologyKey)] += int(pods)
			}
		}
	}
	for i := range all {
		all[i].settle()
	}
}

// settle finds the least of the counts.
func (one *spread) settle() {
	one.least = 0
	if len(one.counts) < one.of.MinDomains {
		return // minMatchNum
	}
	first := true
	for _, pods := range one.counts {
		if first || pods < one.least {
			one.least, first = pods, false
		}
	}
}

func labelled(n *schedNode, all []spread) bool {
	for i := range all {
		if _, ok := n.node.Labels.Lookup(all[i].of.TopologyKey); !ok {
			return false
		}
	}
	return true
}

// includes is matchNodeInclusionPolicies of podtopologyspread/common.go.
func (one *spread) includes(n *schedNode, p *kube.Pod) bool {
	t := p.Template
	if !one.of.IgnoresAffinity {
		if !n.node.Labels.Holds(t.NodeSelector) || !t.Demands.NodeAffinity.Allows(n.node.Name, n.node.Labels) || p.Pinned != "" && p.Pinned != n.node.Name {
			return false
		}
	}
	if one.of.HonorsTaints {
		for _, taint := range n.node.Taints {
			if taint.Effect != component.EffectPreferNoSchedule && !component.Tolerated(t, taint) {
				return false
			}
		}
	}
	return true
}

// refuses says why the constraint keeps a node from the pod, or "".
func (one *spread) refuses(n *schedNode) string {
	value, ok := n.node.Labels.Lookup(one.of.TopologyKey)
	switch {
	case !ok:
		return reasonNoLabel
	case one.counts[value]+one.own-one.least > one.of.MaxSkew:
		return reasonSpread
	}
	return ""
}
