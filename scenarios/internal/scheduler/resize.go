package scheduler

import (
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// A pod that is being resized holds the most of what its spec wants, what its
// kubelet has set aside and what its containers have; one whose resize is
// infeasible holds what it has (determineContainerReqs of
// component-helpers/resource). Its scores go by its spec.

// holds is the room that a pod takes on its node.
func (s *Scheduler) holds(p *kube.Pod) component.Room {
	if r, ok := s.resizing[p]; ok {
		return r
	}
	return s.classOf(p).need
}

// redefined follows a pod whose spec has changed, or how far its kubelet is with
// that.
func (s *Scheduler) redefined(old, p *kube.Pod) {
	had, follows := s.resizing[p]
	if old.Template == p.Template && !follows {
		return
	}
	n := s.holder(p)
	if n == nil || p.Terminal() || old.Terminal() {
		return
	}
	was, is := s.byTemplate[old.Template], s.classOf(p)
	if was == nil {
		return
	}
	if !follows {
		had = was.need
	}
	takes, under := s.roomOf(p, is)
	if under {
		s.resizing[p] = takes
	} else {
		delete(s.resizing, p)
	}
	if was == is && takes == had {
		return
	}
	n.used = n.used.Minus(had).Plus(takes)
	n.scored = n.scored.Minus(was.scored).Plus(is.scored)
	n.resized()
	s.version++
	if takes.CPU < had.CPU || takes.Memory < had.Memory {
		s.opened(n)
	}
}

// roomOf is the room that a pod takes, and whether its kubelet is under way to
// what its spec says.
func (s *Scheduler) roomOf(p *kube.Pod, c *podClass) (takes component.Room, under bool) {
	infeasible := false
	if pending := p.Conditions.Get(component.ResizePending); pending != nil {
		infeasible = pending.Reason == component.ResizeInfeasible
	}
	if d := p.Template.Demands; d != nil && d.Whole != nil {
		return c.need, false
	}
	takes.Pods = c.need.Pods
	for i := range p.Template.Containers {
		spec := p.Template.Containers[i].Resources()
		cpu, memory := spec.CPU, spec.Memory
		if i < len(p.Containers) && p.Containers[i].Given != nil {
			g := p.Containers[i].Given
			under = under || g.Allocated != spec || g.Actual != spec
			if infeasible {
				cpu, memory = 0, 0
			}
			cpu, memory = max(cpu, g.Allocated.CPU, g.Actual.CPU), max(memory, g.Allocated.Memory, g.Actual.Memory)
		}
		takes.CPU += cpu
		takes.Memory += memory
	}
	return takes, under
}
