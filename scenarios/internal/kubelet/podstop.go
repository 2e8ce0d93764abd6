package kubelet

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// podTerminated is the end of a pod that is being deleted.
func (k *Kubelets) podTerminated(m *machine, p *kube.Pod) {
	if k.cfg.Profile == Kwok {
		k.stopKwok(m, p)
		return
	}
	l := k.podWorker(m, p)
	switch {
	case p.Terminal():
		l.stopping = true
		l.next(l.draw(m.t.FinalDelete), l.remove)
	case l.exits != 0:
		// In a hurry: the grace period has become shorter.
		if by := m.now().Add(time.Duration(p.Grace) * time.Second); by < l.exits {
			l.hurry(by)
		}
	default:
		l.stopping = true
		l.next(l.draw(m.t.KillDelay), l.kill)
	}
}

// ran reports whether a container of the pod has been started.
func (l *podWorker) ran() bool {
	return slices.ContainsFunc(l.cs, func(c kube.Container) bool { return c.State.Kind == "running" })
}

// kill asks the containers to stop: they exit by themselves, or are killed when
// their grace is over.
func (l *podWorker) kill() {
	m := l.m
	l.stopping = true
	if l.lifecycle != nil {
		l.lifecycle.stop(m.now())
		if !l.lifecycle.done {
			l.lifecycle.step()
		}
		return
	}
	if !l.ran() {
		l.exits = m.now()
		l.next(l.draw(m.t.TerminalStatus), l.terminate)
		return
	}
	for c := range l.cs {
		if l.cs[c].State.Kind == "running" {
			l.tell("Normal", "Killing", l.cs[c].Name, "Stopping container "+l.cs[c].Name)
		}
	}
	grace := time.Duration(l.p.Grace) * time.Second
	if l.ends != nil && (!l.p.Terminating() || l.ends.grace < grace) {
		grace = l.ends.grace
	}
	l.stopAll(grace)
}

// exit is the end of the containers.
func (l *podWorker) exit(killed bool) {
	for c := range l.cs {
		if l.cs[c].State.Kind == "running" {
			l.cs[c].State = l.stopped(c, killed)
		}
	}
	l.next(l.draw(l.m.t.TerminalStatus), l.terminate)
}

// stopped is the state of a container that was asked to stop, and has.
func (l *podWorker) stopped(c int, killed bool) kube.ContainerState {
	code, reason := 0, "Completed"
	switch {
	case killed:
		code, reason = 137, "Error"
	case l.traits != nil && l.traits.DiesOfSIGTERM:
		code, reason = 143, "Error"
	}
	ran := l.cs[c].State
	return kube.ContainerState{
		Kind: "terminated", Reason: reason, ExitCode: code,
		StartedAt: ran.StartedAt, Finished: max(l.m.now().Second(), ran.StartedAt), ContainerID: l.cs[c].ContainerID,
	}
}

// stopOf draws how long a container takes to exit within its grace, and whether
// it is killed then.
func (l *podWorker) stopOf(c int, grace time.Duration) (takes time.Duration, killed bool) {
	if l.traits == nil || !l.traits.Container(c).NeverStops {
		d := l.m.t.AppStop
		if l.traits != nil {
			d = l.traits.Container(c).Stop
		}
		if own := l.draw(d); own < grace {
			return own, false
		}
	}
	return grace, true
}

// complete is the end of a pod that ends by itself.
func (l *podWorker) complete() {
	l.stopping = true
	l.exits = l.m.now()
	l.exit(false)
}

// terminate writes the pod's last status: since 1.27 its phase says how it has
// ended, even where it is being deleted (KEP-3329). A container that never ran
// has no exit of its own and counts as failed (TerminatePod of
// pkg/kubelet/status/status_manager.go).
func (l *podWorker) terminate() {
	m, failed := l.m, false
	if len(l.cs) == 0 {
		l.await()
	}
	if l.lifecycle != nil {
		l.lifecycle.settle()
	} else {
		for c := range l.cs {
			s := &l.cs[c]
			if s.State.Kind != "terminated" {
				s.State = unlocated()
			}
			s.Ready, s.Started = false, false
			failed = failed || s.State.ExitCode != 0
		}
	}
	m.forgetLeak(l.p)
	m.k.write(l.p, func(p *kube.Pod) {
		if m.v.PodGeneration() {
			p.ObservedGeneration = p.Generation
		}
		switch {
		case l.lifecycle != nil:
			p.Phase = l.lifecycle.terminalPhase()
		case l.ends != nil:
			p.Phase = "Failed"
		case !p.Terminating():
			// A pod that ends by itself is not restarted, whatever its policy.
			if p.Phase = "Succeeded"; failed {
				p.Phase = "Failed"
			}
		default:
			p.Phase = l.phase(true)
		}
		if l.ends != nil {
			p.Reason, p.Message = l.ends.reason, l.ends.message
		}
		p.Containers = slices.Clone(l.cs)
		p.Conditions = l.conditions(p, false)
		if l.ends != nil && !l.ends.undisturbed {
			p.Conditions = p.Conditions.Set(l.disruption(p))
		}
	})
	m.giveAddress(l.ip)
	l.ip = ""
	m.volumesChanged(l.p)
	if l.ends != nil && l.ends.then != nil {
		l.ends.then()
	}
	if l.p.Terminating() {
		rest := l.draw(m.t.FinalDelete)
		l.next(rest, l.remove)
		return
	}
	l.over()
}

// unlocated is the end of a container that never ran.
func unlocated() kube.ContainerState {
	return kube.ContainerState{
		Kind: "terminated", Reason: "ContainerStatusUnknown", ExitCode: 137,
		Message: "The container could not be located when the pod was terminated",
	}
}

// disruption is the condition of a pod that its kubelet has ended. It comes with the phase that says so, after the
// kubelet's own conditions (mergePodStatus of pkg/kubelet/status/status_manager.go).
func (l *podWorker) disruption(p *kube.Pod) kube.Condition {
	c := kube.Condition{
		Type: "DisruptionTarget", Status: "True", Reason: "TerminationByKubelet", Message: l.ends.message, Transition: l.m.now().Second(),
	}
	if l.m.v.PodGeneration() {
		c.Observed = p.Generation
	}
	return c
}

// remove confirms that nothing of the pod is left: the API server removes the
// object, unless finalizers hold it.
func (l *podWorker) remove() {
	p := l.p
	l.over()
	l.m.k.writing = true
	l.m.k.env.API.DeletePod(p, 0)
	l.m.k.writing = false
	l.m.retryResizes()
}
