package scheduler

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// victimsWithout is victimsOn for a pod that isn't kept from a node by room alone: all filters are asked again without
// each victim.
func (s *Scheduler) victimsWithout(n *schedNode, p *kube.Pod, c *podClass) (*candidate, string) {
	var less []*kube.Pod
	for _, v := range s.Env.API.PodsOn(n.node.Name) {
		if v.Template.Priority < c.template.Priority && !v.Terminal() {
			less = append(less, v)
		}
	}
	if len(less) == 0 {
		return nil, noVictims
	}
	slices.SortFunc(less, moreImportant)
	guarded := s.guarded(less)
	for _, v := range less {
		s.imagine(n, v, -1)
	}
	one := &candidate{node: n}
	why := s.obstacle(n, p, c)
	for _, now := range [...]bool{true, false} {
		for i, v := range less {
			if guarded[i] != now {
				continue
			}
			if s.imagine(n, v, 1); why != "" || s.obstacle(n, p, c) == "" {
				continue
			}
			s.imagine(n, v, -1)
			one.victims = append(one.victims, v)
			if now {
				one.violates++
			}
		}
	}
	for _, v := range one.victims {
		s.imagine(n, v, 1)
	}
	if why != "" {
		return nil, why
	}
	slices.SortFunc(one.victims, moreImportant)
	return one, ""
}

// imagine takes a pod from its node, or puts it back, for nobody but who looks now.
func (s *Scheduler) imagine(n *schedNode, v *kube.Pod, by int32) {
	c, room := s.classOf(v), s.holds(v)
	if by < 0 {
		n.used = n.used.Minus(room)
	} else {
		n.used = n.used.Plus(room)
	}
	n.uses(v.Template, int64(by))
	if !v.Terminating() {
		c.count(n, int(by))
	}
	if s.tallies != nil {
		if was, ok := s.tallies.pods[v]; ok {
			s.count(v, was, by)
		}
	}
}

// obstacle is what keeps a pod from a node, or "".
func (s *Scheduler) obstacle(n *schedNode, p *kube.Pod, c *podClass) string {
	var reasons ReasonCounts
	s.explainNode(&reasons, p, c, n, s.limits(c), s.demandOf(p))
	if len(reasons.Reasons) == 0 {
		return ""
	}
	return reasons.Reasons[0]
}
