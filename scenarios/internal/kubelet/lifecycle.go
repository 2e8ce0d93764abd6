package kubelet

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// A lifecycle is how the containers of a pod start and end that doesn't just run until it is deleted: init containers come
// first and in turn, sidecars go on, containers exit by themselves and are started again as the pod's restartPolicy says
// (computePodActions of pkg/kubelet/kuberuntime/kuberuntime_manager.go). Such a pod has a worker as long as it is there.
//
// Each container does one thing at a time, until a moment. At each such moment the kubelet looks at all of them, as
// its sync of a pod does, and starts at most one.
type lifecycle struct {
	*podWorker
	inits, mains []*run
	asked        bool // the containers are asked to stop
	initialized  bool // a container that isn't an init container has been started
	shows        kube.Instant
	pullTook     time.Duration // of the image that is being pulled
	done         bool
}

// run is a container of a lifecycle.
type run struct {
	at      int
	init    bool
	spec    *kube.ContainerSpec
	does    doing
	until   kube.Instant // when it has done that; 0 is never
	readyAt kube.Instant
	crashes int // in a row
	pulls   int // that failed, in a row
	failure string
	retry   kube.Instant // not to be started before
	killed  bool
	// replaced says that it is to be started by another spec, whatever its restartPolicy says.
	replaced bool
}

// doing is what a container does.
type doing int

const (
	idle doing = iota // it waits, or has ended
	pulling
	refusing // the registry is about to refuse the pull
	starting
	up
	exited  // and the kubelet hasn't noticed
	stopsIn // it was asked to stop
	heldOff // by a back-off
)

// hasLifecycle reports whether a pod needs more than the start of its containers.
func hasLifecycle(p *kube.Pod) bool {
	t := p.Template
	if d := t.Demands; d != nil && (len(d.Init) > 0 || len(d.ReadinessGates) > 0 || d.Deadline != nil) {
		return true
	}
	if slices.ContainsFunc(t.Containers, func(c kube.ContainerSpec) bool { return c.End.Ends() }) {
		return true
	}
	return traitsOf(t) == nil && (t.RestartPolicy == "Never" || t.RestartPolicy == "OnFailure")
}

func newLifecycle(l *podWorker) *lifecycle {
	f := &lifecycle{podWorker: l}
	l.init = slices.Clone(l.p.Init)
	init := l.p.Template.Init()
	for i := range init {
		f.inits = append(f.inits, &run{at: i, init: true, spec: &init[i]})
	}
	for i := range l.p.Template.Containers {
		f.mains = append(f.mains, &run{at: i, spec: &l.p.Template.Containers[i]})
	}
	f.initialized = slices.ContainsFunc(l.cs, func(c kube.Container) bool { return c.ContainerID != "" })
	return f
}

// status is the container's own, as the kubelet will post it.
func (f *lifecycle) status(r *run) *kube.Container {
	if r.init {
		return &f.init[r.at]
	}
	return &f.cs[r.at]
}

func (f *lifecycle) all(do func(r *run)) {
	for _, r := range f.inits {
		do(r)
	}
	for _, r := range f.mains {
		do(r)
	}
}

func (f *lifecycle) running(r *run) bool { return f.status(r).State.Kind == "running" }

// await sets all containers to waiting (defaultWaitingState of convertToAPIContainerStatuses of
// pkg/kubelet/kubelet_pods.go).
func (f *lifecycle) await() {
	reason := "ContainerCreating"
	if len(f.inits) > 0 {
		reason = "PodInitializing"
	}
	f.cs, f.init = make([]kube.Container, len(f.mains)), make([]kube.Container, len(f.inits))
	f.all(func(r *run) {
		*f.status(r) = kube.Container{Name: r.spec.Name, Image: r.spec.Image, State: kube.ContainerState{Kind: "waiting", Reason: reason}}
	})
}

// begin is a sandbox that stands: the containers may start, and those that run already go on.
func (f *lifecycle) begin() {
	if len(f.cs) != len(f.mains) || len(f.init) != len(f.inits) {
		f.await()
	}
	if f.again && !slices.ContainsFunc(f.mains, f.running) && f.endsFor(f.mains) == "" {
		// A new sandbox begins with the init containers.
		f.initialized = false
		for _, r := range f.inits {
			if s := f.status(r); s.State.Kind == "terminated" {
				s.Last, s.State, s.Ready = s.State, kube.ContainerState{Kind: "waiting", Reason: "PodInitializing"}, false
			}
		}
	}
	now := f.m.now()
	f.all(func(r *run) {
		switch s := f.status(r); {
		case f.running(r) && r.does == idle:
			r.does = up
			if !s.Ready && (!r.init || r.spec.Sidecar) {
				r.readyAt = now.Add(f.draw(f.m.t.ContainerReady))
			}
			if d := f.endOf(r); d.Ends() {
				r.does, r.until = exited, max(s.State.StartedAt.Add(max(d.After, 0)), now).Add(f.draw(relist))
			}
		case s.Restarts > 0:
			r.crashes = 1
		}
	})
	f.step()
}

// step is the kubelet's look at the pod at a moment at which something is due.
func (f *lifecycle) step() {
	now := f.m.now()
	f.all(func(r *run) {
		if r.until != 0 && r.until <= now {
			r.until = 0
			f.due(r, now)
		}
		if r.readyAt != 0 && r.readyAt <= now && f.running(r) {
			r.readyAt = 0
			f.status(r).Ready = true
			f.post()
		}
	})
	f.decide(now)
	if f.done {
		return
	}
	if f.shows != 0 && f.shows <= now {
		f.shows = 0
		f.show()
	}
	f.wait(now)
}

// wait puts the next look in the loop.
func (f *lifecycle) wait(now kube.Instant) {
	next := f.shows
	sooner := func(at kube.Instant) {
		if at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	f.all(func(r *run) {
		sooner(r.until)
		sooner(r.readyAt)
	})
	if end, limited := f.deadline(); limited && !f.asked {
		sooner(end)
	}
	if next == 0 {
		f.turn++ // nothing is due
		f.parked = nil
		return
	}
	f.next(max(next.Sub(now), 0), f.step)
}

// post has the status written soon.
func (f *lifecycle) post() {
	if f.shows == 0 {
		f.shows = f.m.now().Add(f.draw(f.m.t.StatusPost))
	}
}

// jobRun is how long the containers of a Job's pod run of which nothing is known.
const jobRun = 5 * time.Second

// endOf is how a container ends by itself.
func (f *lifecycle) endOf(r *run) kube.End {
	switch o := f.p.Owner; {
	case r.spec.End.Ends():
		return r.spec.End
	case r.init && !r.spec.Sidecar:
		return kube.End{After: -1} // it wouldn't be one if it ran for ever
	case !r.init && o != nil && o.Kind == "Job" && f.traits == nil:
		return kube.End{After: jobRun}
	}
	return kube.End{}
}

// due is what a container does being over.
func (f *lifecycle) due(r *run, now kube.Instant) {
	s := f.status(r)
	switch r.does {
	case pulling:
		f.m.keep(f.m.k.images.of(s.Image))
		r.pulls = 0
		f.create(r)
	case refusing:
		f.refused(r)
	case starting:
		f.started(r)
	case exited:
		at := max(s.State.StartedAt.Add(max(f.endOf(r).After, 0)), s.State.StartedAt)
		f.ended(r, f.endOf(r).Code, min(at, now))
	case stopsIn:
		code := 0
		if r.killed {
			code = 137
		} else if f.traits != nil && f.traits.DiesOfSIGTERM {
			code = 143
		}
		f.ended(r, code, now)
	case heldOff:
		r.does = idle
	}
}

// ended is a container that has exited.
func (f *lifecycle) ended(r *run, code int, at kube.Instant) {
	s := f.status(r)
	ran := s.State
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	if at.Sub(ran.StartedAt) >= forgiven {
		r.crashes = 0
	}
	r.crashes++
	s.State = kube.ContainerState{
		Kind: "terminated", Reason: reason, ExitCode: code, StartedAt: ran.StartedAt, Finished: max(at.Second(), ran.StartedAt), ContainerID: s.ContainerID,
	}
	s.Ready, s.Started = r.init && !r.spec.Sidecar && code == 0, false
	r.does, r.readyAt = idle, 0
	r.retry = at.Add(model.CrashBackOff(r.crashes))
	if r.retry > f.m.now() {
		r.does, r.until = heldOff, f.m.now().Add(f.draw(relist)) // the exit shows before
	}
	f.post()
}

// deadline is when activeDeadlineSeconds are over.
func (f *lifecycle) deadline() (at kube.Instant, limited bool) {
	d := f.p.Template.Demands
	if d == nil || d.Deadline == nil || f.p.Started == 0 {
		return 0, false
	}
	return f.p.Started.Add(*d.Deadline), true
}

// looked has the kubelet look at a pod that another client has written, with another spec or not: its readiness gates may
// be open, it may have another deadline, and what the kubelet says itself is to be so again.
func (f *lifecycle) looked(p *kube.Pod, anew bool) {
	if f.asked || f.shows != 0 || !f.sandbox || !anew && slices.Equal(f.conditions(p, f.sandbox), p.Conditions) {
		return
	}
	f.m.after(f.draw(seePod), func() {
		if f.current() {
			f.post()
			f.step()
		}
	})
}
