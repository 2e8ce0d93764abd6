package scheduler

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// victimsWithout is victimsOn for a pod that isn't kept from a node by room alone: all filters are asked again without
// each victim. The pod's demand follows them, and is what it was in the end.
func (s *Scheduler) victimsWithout(n *schedNode, p *kube.Pod, c *podClass, d *demand) (*candidate, []string) {
	var less []*kube.Pod
	for _, v := range s.Env.API.PodsOn(n.node.Name) {
		if v.Template.Priority < c.template.Priority && !v.Terminal() {
			less = append(less, v)
		}
	}
	if len(less) == 0 {
		return nil, []string{noVictims}
	}
	slices.SortFunc(less, moreImportant)
	guarded := s.guarded(less)
	for _, v := range less {
		s.simulate(n, v, -1, d)
	}
	one := &candidate{node: n}
	why := s.obstacles(n, p, c, d)
	for _, now := range [...]bool{true, false} {
		for i, v := range less {
			if guarded[i] != now {
				continue
			}
			if s.simulate(n, v, 1, d); why != nil || s.obstacles(n, p, c, d) == nil {
				continue
			}
			s.simulate(n, v, -1, d)
			one.victims = append(one.victims, v)
			if now {
				one.violates++
			}
		}
	}
	for _, v := range one.victims {
		s.simulate(n, v, 1, d)
	}
	if why != nil {
		return nil, why
	}
	slices.SortFunc(one.victims, moreImportant)
	return one, nil
}

// simulate takes a pod from its node, or puts it back, while victims are chosen. The counts of pods stay as they are; the
// demand follows.
func (s *Scheduler) simulate(n *schedNode, v *kube.Pod, by int, d *demand) {
	c, room := s.classOf(v), s.holds(v)
	if by < 0 {
		n.used = n.used.Minus(room)
	} else {
		n.used = n.used.Plus(room)
	}
	n.uses(v.Template, int64(by))
	n.mounts(v, by)
	if !v.Terminating() {
		c.count(n, by)
	}
	d.follow(v, by)
}

// follow counts a pod that is taken away, or put back. A demand that is made anew would look at every node.
func (d *demand) follow(v *kube.Pod, by int) {
	if d.s.podCounts == nil {
		return
	}
	was, counted := d.s.podCounts.pods[v]
	if !counted {
		return
	}
	n, namespace := was.node, d.s.namespaces[v.Namespace]
	selects := func(sel *podSelection) bool { return sel.selects(v.Namespace, namespace, was.labels) }
	for i := range d.apart {
		if a := &d.apart[i]; selects(&a.of.podSelection) {
			a.add(n, by)
		}
	}
	for i := range d.keptBy {
		for _, t := range was.has {
			if t == d.keptBy[i].of {
				d.keptBy[i].add(n, by)
			}
		}
	}
	if len(d.near) > 0 && d.wanted.selectsAll(v.Namespace, namespace, was.labels) {
		for i := range d.near {
			d.near[i].add(n, by)
		}
		d.first = d.isFirst()
	}
	if v.Namespace != d.p.Namespace || !labelled(n, d.spread) {
		return
	}
	// One that is being deleted, and any that a selector of all pods selects, hasn't been counted, and yet counts where it is
	// taken away (updateWithPod of pkg/scheduler/framework/plugins/podtopologyspread/filtering.go).
	for i := range d.spread {
		if one := &d.spread[i]; one.labels.Selects(was.labels) && one.includes(n, d.p) {
			one.counts[n.node.Labels.Get(one.of.TopologyKey)] += by
			one.settle()
		}
	}
}

// add counts pods on a node; nothing is kept of a value that has none.
func (a *nearby) add(n *schedNode, by int) {
	value, ok := n.node.Labels.Lookup(a.key)
	if !ok {
		return
	}
	if a.counts[value] += by; a.counts[value] == 0 {
		delete(a.counts, value)
	}
}

// obstacles are what keeps a pod from a node, nil where nothing does.
func (s *Scheduler) obstacles(n *schedNode, p *kube.Pod, c *podClass, d *demand) []string {
	var reasons ReasonCounts
	s.explainNode(&reasons, p, c, n, s.limits(c), d)
	return reasons.Reasons
}
