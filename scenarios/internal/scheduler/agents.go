package scheduler

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Agents are the pods of DaemonSets, in the order in which they were seen: a node that joins gets one of each that may run there.
type Agents struct {
	all   []agent
	known map[*kube.Template]bool
}

// agent is the latest template of a DaemonSet's pods.
type agent struct {
	template  *kube.Template
	owner     kube.Owner
	namespace string
	labels    kube.Pairs
}

// Saw notes the template of a DaemonSet's pod, in place of the one that the DaemonSet had before, and reports whether it is new.
func (a *Agents) Saw(p *kube.Pod) bool {
	if p.Owner == nil || p.Owner.Kind != "DaemonSet" || a.known[p.Template] {
		return false
	}
	if a.known == nil {
		a.known = map[*kube.Template]bool{}
	}
	a.known[p.Template] = true
	latest := agent{p.Template, *p.Owner, p.Namespace, p.Labels}
	if i := slices.IndexFunc(a.all, func(one agent) bool { return one.owner == latest.owner && one.namespace == latest.namespace }); i >= 0 {
		a.all[i] = latest
	} else {
		a.all = append(a.all, latest)
	}
	return true
}

// Left is what a new node of a group has for other pods: its room without what the agents request.
func (a *Agents) Left(s *Scheduler, room component.Room, on *NodeGroup) component.Room {
	for _, one := range a.all {
		if s.Refusal(one.template, on) == "" {
			room = room.Minus(component.NeedOf(&kube.Pod{Template: one.template}))
		}
	}
	return room
}
