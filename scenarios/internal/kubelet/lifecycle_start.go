package kubelet

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// What a kubelet says (pkg/kubelet/active_deadline.go) of a pod whose time is over.
const (
	deadlineReason  = "DeadlineExceeded"
	deadlineMessage = "Pod was active on the node longer than the specified deadline"
)

// decide ends the pod, or starts the next container.
func (f *lifecycle) decide(now kube.Instant) {
	if f.asked {
		f.stopRest(now)
		return
	}
	if end, limited := f.deadline(); limited && now >= end {
		f.tell("Normal", deadlineReason, "", deadlineMessage)
		f.ends = &ending{reason: deadlineReason, message: deadlineMessage, undisturbed: true}
		f.stop(now)
		return
	}
	if f.finished() {
		f.stop(now)
		return
	}
	busy := func(r *run) bool { return r.does == pulling || r.does == refusing || r.does == starting }
	if slices.ContainsFunc(f.inits, busy) || slices.ContainsFunc(f.mains, busy) {
		return
	}
	for _, r := range f.inits {
		s := f.status(r)
		switch {
		case r.spec.Sidecar && f.running(r):
		case r.spec.Sidecar:
			f.start(r, now)
			if !f.initialized {
				return
			}
		case f.initialized, s.State.Kind == "terminated" && s.State.ExitCode == 0:
		case f.running(r):
			return
		default:
			f.start(r, now)
			return
		}
	}
	for _, r := range f.mains {
		s := f.status(r)
		if f.running(r) || r.does != idle || s.State.Kind == "terminated" && !r.replaced && !f.restarts(s.State.ExitCode) {
			continue
		}
		if f.start(r, now) {
			return
		}
	}
}

// restarts reports whether a container that has exited is started again.
func (f *lifecycle) restarts(code int) bool {
	switch f.p.Template.RestartPolicy {
	case "Never":
		return false
	case "OnFailure":
		return code != 0
	}
	return true
}

// start begins to start a container, or holds it off: the pull of its image or the container itself has failed. It
// reports whether it began.
func (f *lifecycle) start(r *run, now kube.Instant) bool {
	s := f.status(r)
	if r.does != idle {
		return false
	}
	if now < r.retry {
		f.holdOff(r, s, now)
		return false
	}
	f.image = r.spec.Image
	takes, why := f.obtain(r.spec.Name, r.spec.Image, imageBytes(f.traits, r.at))
	switch {
	case why != "":
		r.failure = why
		r.does, r.until = refusing, now.Add(f.draw(f.m.t.ImagePullFail))
	case takes == 0:
		f.create(r)
	default:
		s.Image = r.spec.Image
		r.does, r.until = pulling, now.Add(takes)
		f.pullTook = takes
	}
	return true
}

// holdOff is a look at a container that isn't to be started yet.
func (f *lifecycle) holdOff(r *run, s *kube.Container, now kube.Instant) {
	f.at, f.image = r.at, r.spec.Image
	if r.pulls > 0 {
		f.tell("Normal", "BackOff", r.spec.Name, "Back-off pulling image \""+f.image+"\"")
		f.tell("Warning", "Failed", r.spec.Name, "Error: ImagePullBackOff")
		s.State = f.waitsIn(r, model.ContainerPullBackOff)
	} else {
		f.tell("Warning", "BackOff", r.spec.Name, "Back-off restarting failed container "+r.spec.Name+" in pod "+f.p.Name+"_"+f.p.Namespace+"("+f.p.UID+")")
		if s.State.Kind == "terminated" {
			s.Last = s.State
		}
		s.State = f.waitsIn(r, model.ContainerCrashBackOff)
	}
	r.does, r.until = heldOff, now.Add(f.draw(podResync))
	f.post()
}

// waitsIn is the state of a container that is held off.
func (f *lifecycle) waitsIn(r *run, is model.ContainerState) kube.ContainerState {
	reason, message := is.Waiting(f.m.v, model.Whose{
		Container: r.spec.Name, Image: r.spec.Image, Pod: f.p.Name, Namespace: f.p.Namespace, UID: f.p.UID,
		PullError: r.failure, Crashes: r.crashes,
	})
	return kube.ContainerState{Kind: "waiting", Reason: reason, Message: message}
}

// refused is a pull that failed.
func (f *lifecycle) refused(r *run) {
	s := f.status(r)
	r.failure = pullError(r.spec.Image, r.failure)
	f.tell("Warning", "Failed", r.spec.Name, "Failed to pull image \""+r.spec.Image+"\": "+r.failure)
	f.tell("Warning", "Failed", r.spec.Name, "Error: ErrImagePull")
	r.pulls++
	if s.State.Kind == "terminated" {
		s.Last = s.State
	}
	s.State = f.waitsIn(r, model.ContainerPullError)
	r.retry = f.m.now().Add(model.PullBackOff(r.pulls))
	r.does, r.until = heldOff, f.m.now().Add(f.draw(relist))
	f.post()
}

// create makes the container whose image is there.
func (f *lifecycle) create(r *run) {
	if r.does == pulling {
		f.tellPulled(r.spec.Name, r.spec.Image, f.pullTook, imageBytes(f.traits, r.at))
	}
	r.does, r.until = starting, f.m.now().Add(f.draw(f.m.t.ContainerStart))
}

// started is a container that runs from now on.
func (f *lifecycle) started(r *run) {
	m, s := f.m, f.status(r)
	created, started := startedTexts(m.v, r.spec.Name)
	f.tell("Normal", "Created", r.spec.Name, created)
	f.tell("Normal", "Started", r.spec.Name, started)
	restarts, last := s.Restarts, s.Last
	if s.State.Kind == "terminated" {
		last = s.State
	}
	if s.ContainerID != "" {
		restarts++
	}
	image := m.k.images.of(r.spec.Image)
	*s = kube.Container{
		Name: r.spec.Name, Image: r.spec.Image, ImageID: m.k.images.digest(image), ContainerID: f.nextID(s), Started: true,
		Restarts: restarts, Last: last, State: kube.ContainerState{Kind: "running", StartedAt: m.now().Second()}, Given: f.givenTo(r, s),
	}
	f.initialized = f.initialized || !r.init
	r.does, r.killed, r.replaced = up, false, false
	if !r.init || r.spec.Sidecar {
		d := m.t.ContainerReady
		if f.traits != nil {
			d = f.traits.Container(r.at).StartReady
		}
		r.readyAt = m.now().Add(f.unlessUnprobed(f.draw(d)))
	}
	if end := f.endOf(r); end.Ends() {
		r.does, r.until = exited, m.now().Add(max(end.After, 0)).Add(f.draw(relist))
	}
	f.post()
}

// givenTo is giveTo of a lifecycle.
func (f *lifecycle) givenTo(r *run, s *kube.Container) *kube.Given {
	if s.Given == nil && f.p.Template.Resizable && f.m.v.InPlaceResize() {
		is := r.spec.Resources()
		return f.m.k.share(kube.Given{Allocated: is, Actual: is})
	}
	return s.Given
}

// redefine is a change of the spec: a container with another image is stopped, and started again whatever its
// restartPolicy says.
func (f *lifecycle) redefine() {
	now := f.m.now()
	for i := range f.p.Template.Containers {
		r := f.mains[i]
		r.spec = &f.p.Template.Containers[i]
		if s := f.status(r); s.Given != nil { // what it is resized to, it has
			is := r.spec.Resources()
			s.Given = f.m.k.share(kube.Given{Allocated: is, Actual: is})
		}
		if s := f.status(r); s.Image != r.spec.Image && f.running(r) && r.does != stopsIn {
			f.tell("Normal", "Killing", r.spec.Name, "Container "+r.spec.Name+" definition changed, will be restarted")
			r.does, r.replaced = stopsIn, true
			takes, killed := f.stopOf(r.at, max(f.graceOf(), leastGrace))
			r.until, r.killed = now.Add(takes), killed
		} else if s.Image != r.spec.Image && !f.running(r) {
			r.retry, r.pulls = now, 0
			if r.does == heldOff {
				r.until = now
			}
		}
	}
	f.post()
	f.step()
}

// crash has a running container exit with 1. It reports whether there was one.
func (f *lifecycle) crash(container string) bool {
	i := slices.IndexFunc(f.mains, func(r *run) bool {
		return (container == "" || r.spec.Name == container) && f.running(r) && (r.does == up || r.does == exited)
	})
	if i < 0 || f.asked {
		return false
	}
	r := f.mains[i]
	r.until = 0
	f.ended(r, crashed, f.m.now())
	f.step()
	return true
}
