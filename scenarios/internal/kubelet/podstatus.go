package kubelet

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// podScratch is memory that writes of pods' conditions share.
type podScratch struct {
	containers []model.Container
	names      []string
	conditions []model.Condition
	next       kube.Conditions
	shared     []kube.Conditions // by their hash
	displaced  int               // of shared, by others
}

// Room for the conditions of small clusters, and of large ones.
const (
	leastShared = 1 << 6
	mostShared  = 1 << 12
)

// share returns conditions that are like those of next: the same ones for pods
// that do the same within a second, as most of a large roll do.
func (s *podScratch) share(next kube.Conditions) kube.Conditions {
	h := uint64(len(next))
	for i := range next {
		h = (h ^ uint64(next[i].Transition)/uint64(time.Second)) * 0x9e3779b97f4a7c15
		h = (h ^ uint64(len(next[i].Status))) * 0x9e3779b97f4a7c15
	}
	if len(s.shared) == 0 || s.displaced > len(s.shared) && len(s.shared) < mostShared {
		s.shared, s.displaced = make([]kube.Conditions, max(leastShared, min(mostShared, 8*len(s.shared)))), 0
	}
	at := &s.shared[h>>(64-12)&uint64(len(s.shared)-1)]
	if !slices.Equal(*at, next) {
		if *at != nil {
			s.displaced++
		}
		*at = slices.Clone(next)
	}
	return *at
}

// podConditions are a pod's conditions with the kubelet's own updated, after those of others (model.PodConditions). A
// condition whose status stays keeps its time.
func (m *machine) podConditions(p *kube.Pod, sandbox bool) kube.Conditions {
	now := m.now().Second()
	observed := int64(0)
	if m.v.PodGeneration() {
		observed = p.Generation
	}
	s := &m.k.scratch
	s.containers, s.names = viewed(s.containers, p.Containers), s.names[:0]
	for i := range p.Containers {
		s.names = append(s.names, p.Containers[i].Name)
	}
	is := model.Pod{Phase: phaseOf(p.Phase), Seen: true, Sandbox: sandbox}
	s.conditions = model.PodConditions(s.conditions[:0], is, s.containers, s.names, m.v)
	others := 0
	for i := range p.Conditions {
		if !ownedByKubelet(p.Conditions[i].Type) {
			others++
		}
	}
	next := s.next[:0]
	for i := range p.Conditions {
		if others > 0 && !ownedByKubelet(p.Conditions[i].Type) {
			next = append(next, p.Conditions[i])
		}
	}
	for i := range s.conditions {
		c := &s.conditions[i]
		transition := now
		if old := p.Conditions.Get(c.Type); old != nil && old.Status == c.Status {
			transition = old.Transition
		}
		next = append(next, kube.Condition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, Transition: transition, Observed: observed,
		})
	}
	s.next = next
	return s.share(next)
}

func ownedByKubelet(kind string) bool {
	switch kind {
	case "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled":
		return true
	}
	return false
}

// viewed are containers as the model sees them.
func viewed(dst []model.Container, containers []kube.Container) []model.Container {
	dst = dst[:0]
	for i := range containers {
		c := &containers[i]
		is := model.Container{Ready: c.Ready, Exits: c.Last.Kind != ""}
		switch c.State.Kind {
		case "running":
			is.State = model.ContainerRunning
		case "terminated":
			is.State, is.Exits, is.ExitCode = model.ContainerExited, true, uint8(c.State.ExitCode)
		}
		dst = append(dst, is)
	}
	return dst
}

func phaseOf(phase string) model.Phase {
	switch phase {
	case "Running":
		return model.Running
	case "Succeeded":
		return model.Succeeded
	case "Failed":
		return model.Failed
	}
	return model.Pending
}

// phase is the pod's next one.
func (l *podWorker) phase(ending bool) string {
	if l.lifecycle != nil {
		return l.lifecycle.phase(ending)
	}
	s := &l.m.k.scratch
	s.containers = viewed(s.containers, l.cs)
	is := model.Pod{Phase: phaseOf(l.p.Phase), Seen: true}
	if l.p.Template.RestartPolicy == "Never" {
		is.Policy = model.RestartNever
	}
	is.Update(s.containers, ending, l.m.v)
	return is.Phase.String()
}

// conditions are the pod's conditions with the kubelet's own updated, and, of a lifecycle, the statuses of init containers.
func (l *podWorker) conditions(p *kube.Pod, sandbox bool) kube.Conditions {
	if l.lifecycle == nil {
		return l.m.podConditions(p, sandbox)
	}
	p.Init = slices.Clone(l.init)
	return l.lifecycle.conditions(p, sandbox)
}

// startOf is the startTime of a pod that the kubelet has just taken on. On a busy machine a live run's clock can lag
// that of its API server: no kubelet sees a pod before it was created.
func (m *machine) startOf(p *kube.Pod) kube.Instant { return max(m.now().Second(), p.Created.Second()) }

// show writes the pod's status as the kubelet sees it now.
func (l *podWorker) show() {
	l.begun = true
	m := l.m
	m.k.write(l.p, func(p *kube.Pod) {
		if m.v.PodGeneration() {
			p.ObservedGeneration = p.Generation
		}
		p.Phase = l.phase(false)
		if p.Started == 0 {
			p.Started = m.startOf(p)
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
		l.showResize(p)
		p.Conditions = l.conditions(p, l.sandbox)
	})
}
