package scheduler

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// The reasons of filters that only pods of clients meet.
const (
	reasonAffinity = "node(s) didn't match Pod's node affinity/selector"
	reasonPorts    = "node(s) didn't have free ports for the requested pod ports"
	ReasonNear     = "node(s) didn't match pod affinity rules"
	ReasonApart    = "node(s) didn't match pod anti-affinity rules"
	reasonExisting = "node(s) didn't satisfy existing pods anti-affinity rules"
)

// demand is what keeps one pod from nodes beside taints, room and the zones of volumes: its own demands, those of pods that
// are there, and how many volumes a node takes. It holds for a moment: what is on the nodes is counted when it is made. A nil demand keeps a pod from no node.
type demand struct {
	s *Scheduler
	p *kube.Pod
	d *kube.Demands
	// names are the nodes that a pod asks for by their names; nil is all.
	names  []string
	spread []spread
	near   []nearby
	wanted podSelections // near: all of them at once
	own    bool          // the pod is such a pod itself
	first  bool          // it is, and none is there
	apart  []nearby      // and where none of them may be
	keptBy []nearby      // of pods that are there, which want this one nowhere near
}

// nearby counts pods by the value of a label of their nodes.
type nearby struct {
	key    string
	counts map[string]int
	of     *podCount // of whose pods; nil where several terms are counted together
}

// at is how many there are around a node, and whether it has the label.
func (a *nearby) at(n *schedNode) (pods int, ok bool) {
	value, ok := n.node.Labels.Lookup(a.key)
	return a.counts[value], ok
}

// demandOf returns a pod's demand, nil where there is none (the PreFilter of the plugins).
func (s *Scheduler) demandOf(p *kube.Pod) *demand {
	d := p.Template.Demands
	limited := s.volumesLimited && p.Claim != ""
	if d == nil && s.podCounts == nil && !limited {
		return nil
	}
	if hasPodTerms(p.Template) {
		s.startCounting()
	}
	out := &demand{s: s, p: p, d: d}
	if s.podCounts != nil {
		for _, t := range s.podCounts.inOrder {
			if t.against && t.weight == 0 && t.all > 0 && t.selects(p.Namespace, s.namespaces[p.Namespace], p.Labels) {
				out.keptBy = append(out.keptBy, s.around(t, t.topologyKey))
			}
		}
	}
	if d == nil {
		if out.keptBy == nil && !s.anyPreference() && !limited {
			return nil
		}
		out.d = &kube.Demands{}
		return out
	}
	out.names = named(d.NodeAffinity)
	for i := range d.AntiAffinity {
		out.apart = append(out.apart, s.around(s.counts(s.selection(p, &d.AntiAffinity[i])), d.AntiAffinity[i].TopologyKey))
	}
	s.wantNear(out)
	for i := range d.Spread {
		if d.Spread[i].Hard {
			out.spread = append(out.spread, s.spreadBy(p, &d.Spread[i]))
		}
	}
	if len(out.spread) > 0 {
		s.countSpread(out.spread, p)
	}
	return out
}

// anyPreference reports whether pods on nodes have terms that count for the scores of others.
func (s *Scheduler) anyPreference() bool {
	return s.podCounts != nil && slices.ContainsFunc(s.podCounts.inOrder, func(t *podCount) bool { return t.all > 0 && (t.weight > 0 || !t.against) })
}

// around counts pods by the value of a label of their nodes.
func (s *Scheduler) around(t *podCount, key string) nearby {
	a := nearby{key: key, counts: map[string]int{}, of: t}
	if t.all == 0 {
		return a
	}
	for _, n := range s.nodes {
		if pods, _ := t.on(n); pods > 0 {
			if value, ok := n.node.Labels.Lookup(key); ok {
				a.counts[value] += int(pods)
			}
		}
	}
	return a
}

// wantNear counts what a pod wants near. A pod counts that meets all of the terms (podMatchesAllAffinityTerms of
// pkg/scheduler/framework/plugins/interpodaffinity/filtering.go).
func (s *Scheduler) wantNear(out *demand) {
	terms := out.d.Affinity
	if len(terms) == 0 {
		return
	}
	var all podSelections
	for i := range terms {
		all = append(all, s.selection(out.p, &terms[i]))
		out.near = append(out.near, nearby{key: terms[i].TopologyKey, counts: map[string]int{}})
	}
	out.wanted = all
	if len(terms) == 1 {
		out.near[0] = s.around(s.counts(all[0]), terms[0].TopologyKey)
	} else {
		for p, c := range s.podCounts.pods {
			if !all.selectsAll(p.Namespace, s.namespaces[p.Namespace], c.labels) {
				continue
			}
			for i := range out.near {
				out.near[i].add(c.node, 1)
			}
		}
	}
	out.own = all.selectsAll(out.p.Namespace, s.namespaces[out.p.Namespace], out.p.Labels)
	out.first = out.isFirst()
}

// isFirst reports whether nothing that the pod wants near is there, and it is such a pod itself.
func (d *demand) isFirst() bool {
	return d.own && !slices.ContainsFunc(d.near, func(a nearby) bool { return len(a.counts) > 0 })
}

type podSelections []podSelection

func (all podSelections) selectsAll(namespace string, ofNamespace, labels kube.Pairs) bool {
	return !slices.ContainsFunc(all, func(one podSelection) bool { return !one.selects(namespace, ofNamespace, labels) })
}

// named are the nodes of which a pod's affinity names some in each of its terms (PreFilter of the plugin NodeAffinity).
func named(a *kube.NodeAffinity) (names []string) {
	if a == nil {
		return nil
	}
	for _, t := range a.Required {
		var of []string
		any := false
		for _, f := range t.Fields {
			if f.Key != "metadata.name" || f.Operator != "In" {
				continue
			}
			if !any {
				of, any = slices.Clone(f.Values), true
			} else {
				of = slices.DeleteFunc(of, func(name string) bool { return !slices.Contains(f.Values, name) })
			}
		}
		if !any {
			return nil
		}
		names = append(names, of...)
	}
	return names
}

// byGroup is the affinity that all nodes of a group meet, or none.
func byGroup(t *kube.Template) *kube.NodeAffinity {
	if t.Demands == nil || t.Demands.NodeAffinity == nil {
		return nil
	}
	for _, term := range t.Demands.NodeAffinity.Required {
		if len(term.Fields) > 0 || slices.ContainsFunc(term.Labels, func(r kube.Requirement) bool { return r.Key == component.LabelHostname }) {
			return nil
		}
	}
	return t.Demands.NodeAffinity
}

// excludes reports whether the pod names other nodes.
func (d *demand) excludes(n *schedNode) bool {
	return d != nil && d.names != nil && !slices.Contains(d.names, n.node.Name)
}

// before is why a node isn't looked at for room, or "": the filters NodeAffinity and NodePorts.
func (d *demand) before(n *schedNode) (reason string, resolvable bool) {
	switch {
	case d == nil:
	case !d.d.NodeAffinity.Allows(n.node.Name, n.node.Labels):
		return reasonAffinity, false
	case n.taken(d.d.Ports):
		return reasonPorts, true
	}
	return "", false
}

// lacks are the resources beside CPU and memory of which a node has too little, and whether it would have enough if it
// were empty.
func (d *demand) lacks(n *schedNode) (reasons []string, enough bool) {
	enough = true
	if d == nil {
		return nil, true
	}
	for _, a := range d.d.More {
		all := n.amount(a.Resource)
		if a.Value > all-n.moreUsed[a.Resource] {
			reasons = append(reasons, "Insufficient "+a.Resource)
			enough = enough && a.Value <= all
		}
	}
	return reasons, enough
}

// after is why a node with room isn't taken, or "": the filters PodTopologySpread and InterPodAffinity.
func (d *demand) after(n *schedNode) (reason string, resolvable bool) {
	if d == nil {
		return "", false
	}
	for i := range d.spread {
		if reason := d.spread[i].refuses(n); reason != "" {
			return reason, reason == reasonSpread
		}
	}
	if !d.isNear(n) {
		return ReasonNear, false
	}
	for i := range d.apart {
		if pods, ok := d.apart[i].at(n); ok && pods > 0 {
			return ReasonApart, true
		}
	}
	for i := range d.keptBy {
		if pods, ok := d.keptBy[i].at(n); ok && pods > 0 {
			return reasonExisting, true
		}
	}
	return "", false
}

func (d *demand) isNear(n *schedNode) bool {
	near := true
	for i := range d.near {
		pods, ok := d.near[i].at(n)
		if !ok {
			return false
		}
		near = near && pods > 0
	}
	return near || d.first
}

// holds reports whether nothing keeps the pod from a node with room for it.
func (d *demand) holds(n *schedNode) bool {
	if d == nil {
		return true
	}
	if reason, _ := d.before(n); reason != "" || d.excludes(n) {
		return false
	}
	if lacking, _ := d.lacks(n); len(lacking) > 0 || n.exceeds(d.p) {
		return false
	}
	reason, _ := d.after(n)
	return reason == ""
}

// uses has a pod take the ports and further resources of a node, or give them back.
func (n *schedNode) uses(t *kube.Template, by int64) {
	d := t.Demands
	if d == nil {
		return
	}
	for _, a := range d.More {
		if n.moreUsed == nil {
			n.moreUsed = map[string]int64{}
		}
		n.moreUsed[a.Resource] += by * a.Value
	}
	for _, p := range d.Ports {
		if n.ports == nil {
			n.ports = map[kube.HostPort]int{}
		}
		if n.ports[p] += int(by); n.ports[p] == 0 {
			delete(n.ports, p)
		}
	}
}

// taken reports whether another pod has one of the ports.
func (n *schedNode) taken(ports []kube.HostPort) bool {
	for _, want := range ports {
		for has := range n.ports {
			if clash(want, has) {
				return true
			}
		}
	}
	return false
}

const allAddresses = "0.0.0.0"

// amount is how much of a resource a node has for pods.
func (n *schedNode) amount(name string) int64 {
	if all, ok := n.more[name]; ok {
		return all
	}
	if n.more == nil {
		n.more = map[string]int64{}
	}
	n.more[name] = Amount(n.node.Allocatable, name)
	return n.more[name]
}
