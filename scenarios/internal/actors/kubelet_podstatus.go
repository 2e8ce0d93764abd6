package actors

import (
	"slices"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/api"
)

// podState is what a pod's conditions say.
type podState struct {
	sandbox, ready bool
	phase          string // only where that is the last one
}

// podConditions are the kubelet's own conditions of a pod, behind those of
// others, in the order of generateAPIPodStatus of pkg/kubelet/kubelet_pods.go. A
// condition whose status stays keeps its time.
func (m *machine) podConditions(p *api.Pod, s podState) api.Conditions {
	now := m.now().Second()
	observed := int64(0)
	if m.v.PodGeneration() {
		observed = p.Generation
	}
	others := 0
	for i := range p.Conditions {
		if !ownedByKubelet(p.Conditions[i].Type) {
			others++
		}
	}
	next := make(api.Conditions, 0, 5+others)
	for i := range p.Conditions {
		if others > 0 && !ownedByKubelet(p.Conditions[i].Type) {
			next = append(next, p.Conditions[i])
		}
	}
	set := func(kind string, is bool, reason, message string) {
		c := api.Condition{Type: kind, Status: "False", Reason: reason, Message: message, Transition: now, Observed: observed}
		if is {
			c.Status = "True"
		}
		if old := p.Conditions.Get(kind); old != nil && old.Status == c.Status {
			c.Transition = old.Transition
		}
		next = append(next, c)
	}
	reason, message := "", ""
	switch {
	case s.phase == "Succeeded":
		reason = "PodCompleted"
	case s.phase == "Failed":
		reason = "PodFailed"
	case !s.ready:
		reason, message = "ContainersNotReady", unready(p)
	}
	if m.v.PodReadyToStartContainers() {
		set("PodReadyToStartContainers", s.sandbox, "", "")
	}
	initialized := ""
	if s.phase == "Succeeded" {
		initialized = reason
	}
	set("Initialized", true, initialized, "")
	set("Ready", s.ready, reason, message)
	set("ContainersReady", s.ready, reason, message)
	set("PodScheduled", true, "", "")
	return next
}

func ownedByKubelet(kind string) bool {
	switch kind {
	case "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled":
		return true
	}
	return false
}

// unready names the containers that aren't ready.
func unready(p *api.Pod) string {
	if len(p.Template.Containers) == 1 {
		return "containers with unready status: [" + p.Template.Containers[0].Name + "]"
	}
	var names []string
	for i := range p.Template.Containers {
		if i >= len(p.Containers) || !p.Containers[i].Ready {
			names = append(names, p.Template.Containers[i].Name)
		}
	}
	return "containers with unready status: [" + strings.Join(names, " ") + "]"
}

// show writes the pod's status as the kubelet sees it now.
func (l *life) show() {
	l.begun = true
	m := l.m
	m.k.write(l.p, func(p *api.Pod) {
		if m.v.PodGeneration() {
			p.ObservedGeneration = p.Generation
		}
		running := len(l.cs) > 0
		for i := range l.cs {
			running = running && l.cs[i].State.Kind == "running"
		}
		if !p.Terminal() {
			switch {
			case running, l.again && p.Phase == "Running":
				p.Phase = "Running"
			default:
				p.Phase = "Pending"
			}
		}
		if p.Started == 0 {
			p.Started = m.now().Second()
		}
		p.HostIP = m.hostIP
		if p.Template.HostNetwork {
			p.PodIP = p.HostIP
		} else if l.sandbox {
			p.PodIP = l.ip
		} else if l.again {
			p.PodIP = ""
		}
		p.Containers = slices.Clone(l.cs)
		p.Conditions = m.podConditions(p, podState{sandbox: l.sandbox, ready: l.ready})
	})
}
