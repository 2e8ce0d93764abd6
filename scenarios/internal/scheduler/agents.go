package scheduler

import (
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Agents are the templates of DaemonSets' pods, in the order in which they were seen: a node that joins gets one of each that
// may run there.
type Agents struct {
	templates []*kube.Template
	known     map[*kube.Template]bool
}

// Saw notes the template of a DaemonSet's pod, and reports whether it is new.
func (a *Agents) Saw(p *kube.Pod) bool {
	if p.Owner == nil || p.Owner.Kind != "DaemonSet" || a.known[p.Template] {
		return false
	}
	if a.known == nil {
		a.known = map[*kube.Template]bool{}
	}
	a.known[p.Template] = true
	a.templates = append(a.templates, p.Template)
	return true
}

// Left is what a new node of a group has for other pods: its room without what the agents request.
func (a *Agents) Left(s *Scheduler, room component.Room, on *NodeGroup) component.Room {
	for _, t := range a.templates {
		if s.Refusal(t, on) == "" {
			p := kube.Pod{Template: t}
			cpu, memory := p.Requests()
			room = room.Minus(component.Room{CPU: cpu, Memory: memory, Pods: 1})
		}
	}
	return room
}
