package kubelet

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// finished reports whether nothing is left to run: the pod has succeeded, or failed.
func (f *lifecycle) finished() bool { return f.endsFor(f.mains) != "" || f.initFailed() }

// initFailed reports whether an init container has failed that isn't started again.
func (f *lifecycle) initFailed() bool {
	return !f.initialized && slices.ContainsFunc(f.inits, func(r *run) bool {
		s := f.status(r).State
		return !r.spec.Sidecar && s.Kind == "terminated" && s.ExitCode != 0 && !f.restartsInit()
	})
}

func (f *lifecycle) restartsInit() bool { return f.p.Template.RestartPolicy != "Never" }

// endsFor is the phase in which a pod ends whose containers have all exited for good, or "".
func (f *lifecycle) endsFor(mains []*run) string {
	phase := "Succeeded"
	for _, r := range mains {
		s := f.status(r).State
		if s.Kind != "terminated" || f.restarts(s.ExitCode) || r.replaced {
			return ""
		}
		if s.ExitCode != 0 {
			phase = "Failed"
		}
	}
	return phase
}

func (f *lifecycle) graceOf() time.Duration {
	grace := time.Duration(f.p.Template.GraceSeconds) * time.Second
	if f.p.Terminating() {
		grace = time.Duration(f.p.Grace) * time.Second
	}
	if f.ends != nil && f.ends.grace > 0 {
		grace = min(grace, f.ends.grace)
	}
	return grace
}

// stop asks the containers to stop, sidecars after the others
// (killContainersWithSyncResult of pkg/kubelet/kuberuntime/kuberuntime_container.go).
func (f *lifecycle) stop(now kube.Instant) {
	f.stopping, f.asked = true, true
	by := now.Add(f.graceOf())
	f.exits = by
	for _, r := range f.mains {
		f.stopOne(r, now, by)
	}
	for _, r := range f.inits {
		if !r.spec.Sidecar {
			f.stopOne(r, now, by)
		}
	}
	f.stopRest(now)
}

// stopOne asks a container to stop by a moment.
func (f *lifecycle) stopOne(r *run, now, by kube.Instant) {
	r.readyAt, r.until = 0, 0
	if !f.running(r) {
		r.does = idle
		return
	}
	f.tell("Normal", "Killing", r.spec.Name, "Stopping container "+r.spec.Name)
	takes, killed := f.stopOf(r.at, by.Sub(now))
	r.does, r.until, r.killed = stopsIn, now.Add(takes), killed
}

// stopRest goes on to the sidecars, and from there to the end.
func (f *lifecycle) stopRest(now kube.Instant) {
	if f.done || slices.ContainsFunc(f.mains, f.running) {
		return
	}
	waits := false
	for _, r := range f.inits {
		if !f.running(r) {
			continue
		}
		if r.does != stopsIn {
			f.stopOne(r, now, max(f.exits, now))
		}
		waits = true
	}
	if waits {
		return
	}
	f.done = true
	f.exits = max(now, 1)
	f.podWorker.next(f.draw(f.m.t.TerminalStatus), f.terminate)
}

// hurry kills what runs on at a moment: the grace period has become shorter.
func (f *lifecycle) hurry(by kube.Instant) {
	f.exits = by
	f.all(func(r *run) {
		if r.does == stopsIn && r.until > by {
			r.until, r.killed = by, true
		}
	})
	if !f.done {
		f.step()
	}
}

// lose is what a boot does to init containers that run.
func (f *lifecycle) lose(now kube.Instant) {
	for i := range f.init {
		if s := &f.init[i]; s.State.Kind == "running" {
			f.again = true
			s.State = kube.ContainerState{
				Kind: "terminated", Reason: "Unknown", ExitCode: 255, StartedAt: s.State.StartedAt, Finished: max(now, s.State.StartedAt), ContainerID: s.ContainerID,
			}
			s.Ready, s.Started = false, false
		}
	}
}

// settle gives containers an end that have none when their pod has ended (TerminatePod of
// pkg/kubelet/status/status_manager.go): all of a pod that was initialized, and else those before the last init
// container that was started.
func (f *lifecycle) settle() {
	if len(f.cs) != len(f.mains) || len(f.init) != len(f.inits) {
		f.await()
	}
	last := -1
	for _, r := range f.inits {
		if f.initialized || f.status(r).ContainerID != "" {
			last = r.at
		}
	}
	f.all(func(r *run) {
		s := f.status(r)
		if s.State.Kind != "terminated" && (f.initialized || len(f.inits) == 0 || r.init && r.at <= last) {
			s.State = unlocated()
		}
		if !r.init || r.spec.Sidecar {
			s.Ready = false
		}
		s.Started = false
	})
}
