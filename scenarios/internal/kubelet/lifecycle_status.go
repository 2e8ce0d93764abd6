package kubelet

import (
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// phase is the pod's next one (getPhase of pkg/kubelet/kubelet_pods.go); ended says that nothing is started any more.
func (f *lifecycle) phase(ended bool) string {
	if was := f.p.Phase; was == "Succeeded" || was == "Failed" {
		return was
	}
	if f.initFailed() {
		return "Failed"
	}
	pending, waiting, running, stopped, succeeded, forGood := false, 0, 0, 0, 0, 0
	for _, r := range f.inits {
		s := f.status(r)
		switch {
		case !r.spec.Sidecar:
			pending = pending || !f.initialized && s.State.Kind != "terminated"
		case s.State.Kind == "running":
			running++
		case s.State.Kind == "waiting" && s.Last.Kind == "":
			pending = pending || !f.initialized
			waiting++
		}
	}
	for _, r := range f.mains {
		s := f.status(r)
		code, exited := s.State.ExitCode, s.State.Kind == "terminated"
		if s.State.Kind == "waiting" && s.Last.Kind != "" {
			code, exited = s.Last.ExitCode, true
		}
		switch {
		case s.State.Kind == "running":
			running++
		case exited:
			stopped++
			if code == 0 && s.State.Kind == "terminated" {
				succeeded++
			}
			if !f.restarts(code) {
				forGood++
			}
		default:
			waiting++
		}
	}
	switch {
	case pending || waiting > 0:
		return "Pending"
	case running > 0:
		return "Running"
	case stopped > 0 && ended && stopped == succeeded:
		return "Succeeded"
	case stopped > 0 && ended:
		return "Failed"
	case stopped != forGood:
		return "Running"
	case stopped > 0 && stopped == succeeded:
		return "Succeeded"
	case stopped > 0:
		return "Failed"
	}
	return "Pending"
}

// terminalPhase is that of a pod that has ended.
func (f *lifecycle) terminalPhase() string {
	if f.ends != nil || f.phase(true) != "Succeeded" {
		return "Failed"
	}
	return "Succeeded"
}

// conditions are the pod's with the kubelet's own updated (pkg/kubelet/status/generate.go), after those of others.
func (f *lifecycle) conditions(p *kube.Pod, sandbox bool) kube.Conditions {
	var next kube.Conditions
	for i := range p.Conditions {
		if !ownedByKubelet(p.Conditions[i].Type) {
			next = append(next, p.Conditions[i])
		}
	}
	others := next
	now, observed := f.m.now().Second(), int64(0)
	if f.m.v.PodGeneration() {
		observed = p.Generation
	}
	add := func(c kube.Condition) kube.Condition {
		c.Transition, c.Observed = now, observed
		if c.Status == "" {
			c.Status = "False"
		}
		if old := p.Conditions.Get(c.Type); old != nil && old.Status == c.Status {
			c.Transition = old.Transition
		}
		next = append(next, c)
		return c
	}
	if f.m.v.PodReadyToStartContainers() {
		c := kube.Condition{Type: "PodReadyToStartContainers"}
		if sandbox {
			c.Status = "True"
		}
		add(c)
	}
	add(f.isInitialized(p.Phase))
	all := f.containersReady(p.Phase)
	ready := all
	ready.Type = "Ready"
	if message := gatesShut(p.Template.Demands, others); all.Status == "True" && message != "" {
		ready = kube.Condition{Type: "Ready", Reason: "ReadinessGatesNotReady", Message: message}
	}
	add(ready)
	add(all)
	add(kube.Condition{Type: "PodScheduled", Status: "True"})
	return next
}

func (f *lifecycle) isInitialized(phase string) kube.Condition {
	c := kube.Condition{Type: "Initialized", Status: "True"}
	if phase == "Succeeded" {
		c.Reason = "PodCompleted"
		return c
	}
	var incomplete []string
	for _, r := range f.inits {
		s := f.status(r)
		if is := s.Ready; r.spec.Sidecar && !s.Started || !r.spec.Sidecar && !is {
			incomplete = append(incomplete, r.spec.Name)
		}
	}
	if len(incomplete) > 0 && !f.initialized {
		c.Status, c.Reason, c.Message = "False", "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %s", incomplete)
	}
	return c
}

func (f *lifecycle) containersReady(phase string) kube.Condition {
	c := kube.Condition{Type: "ContainersReady"}
	switch phase {
	case "Succeeded":
		c.Reason = "PodCompleted"
		return c
	case "Failed":
		c.Reason = "PodFailed"
		return c
	}
	var unready []string
	f.all(func(r *run) {
		if (!r.init || r.spec.Sidecar) && !f.status(r).Ready {
			unready = append(unready, r.spec.Name)
		}
	})
	if len(unready) > 0 {
		c.Reason, c.Message = "ContainersNotReady", fmt.Sprintf("containers with unready status: %s", unready)
		return c
	}
	c.Status = "True"
	return c
}

// gatesShut says which readiness gates aren't open, or "".
func gatesShut(d *kube.Demands, conditions kube.Conditions) string {
	if d == nil {
		return ""
	}
	var shut []string
	for _, gate := range d.ReadinessGates {
		switch c := conditions.Get(gate); {
		case c == nil:
			shut = append(shut, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate))
		case c.Status != "True":
			shut = append(shut, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", gate, c.Status))
		}
	}
	return strings.Join(shut, ", ")
}
