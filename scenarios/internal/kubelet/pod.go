package kubelet

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// podWorker is the kubelet's state of a pod while it starts or stops: a pod that runs, and one that has ended, has none.
type podWorker struct {
	m      *machine
	p      *kube.Pod
	traits *component.PodTraits
	chance model.Stream

	// turn counts the steps: one that another has overtaken is ignored.
	turn      int
	parked    func() // the step that a silent kubelet couldn't take
	cs        []kube.Container
	init      []kube.Container // of a lifecycle
	lifecycle *lifecycle       // nil where the pod just runs
	at        int              // the container that is being started
	image     string           // what that container is to run
	dies      []int            // the containers that crash
	held      []heldBack
	readyAt   []kube.Instant // when each container is ready, in a pod of several
	ip        string         // its own address, "" where it has none
	failures  int            // pulls in a row that failed
	sandbox   bool           // the pod has a network
	begun     bool           // its status says that the kubelet knows it
	ready     bool
	again     bool // its containers ran before: they count as restarts
	lost      bool // they ran when the machine booted
	// seen is the spec that the containers were started by, or are being.
	seen *kube.Template
	// syncing says that containers are being replaced or an image is pulled: the
	// kubelet sees a change of the spec only when that is done.
	syncing bool
	// owed says that the container being started has ended before and that its
	// next run is still to be counted.
	owed bool
	// replaced says that containers were replaced in place.
	replaced bool
	// What the status says of a resize; the zero Condition is nothing.
	pending, progress kube.Condition
	stopping          bool
	exits             kube.Instant // when the last container exits or is killed, once that is settled
	stops             []stop       // when each of them does
	ends              *ending      // why the kubelet itself ends the pod, or nil
}

// ending is a kubelet's own decision that a pod is to end.
type ending struct {
	reason, message string // of the status
	grace           time.Duration
	undisturbed     bool   // no disruption: the pod says itself when it ends
	then            func() // when it has ended
}

func (k *Kubelets) podWorker(m *machine, p *kube.Pod) *podWorker {
	l := k.podWorkers[p]
	if l == nil {
		l = &podWorker{m: m, p: p, traits: traitsOf(p.Template)}
		// Pods of a StatefulSet come again with the same name.
		l.chance = model.NewStreamAt(k.env.Seed, uint64(p.Created), "kubelet", "pod", p.Namespace, p.Name)
		l.cs = slices.Clone(p.Containers)
		l.begun = p.Started != 0
		for c := range l.cs {
			l.again = l.again || l.cs[c].State.Kind == "terminated" || l.cs[c].Restarts > 0
		}
		l.sandbox = len(l.cs) > 0 && p.PodIP != "" && l.cs[0].State.Kind == "running"
		l.ready = p.Ready()
		l.seen = p.Template
		l.recallResize()
		if !p.Template.HostNetwork && !p.Terminal() {
			l.ip = p.PodIP
		}
		if hasLifecycle(p) && k.cfg.Profile != Kwok {
			l.lifecycle = newLifecycle(l)
		}
		k.podWorkers[p] = l
	}
	return l
}

func (l *podWorker) draw(d model.Dist) time.Duration {
	return l.m.factor.Of(l.m.k.env.Draw(&l.chance, d))
}

// next takes a step once d has passed. Another step, the end of the pod or of
// the kubelet cancel it; a kubelet that is silent then takes it when it is
// heard again.
func (l *podWorker) next(d time.Duration, step func()) {
	l.turn++
	turn := l.turn
	l.parked = nil
	l.m.k.env.After(d, func() {
		if l.turn != turn {
			return
		}
		if l.p.Gone() {
			l.over()
			return
		}
		if !l.m.works() {
			l.parked = step
			return
		}
		step()
	})
}

// over forgets the worker.
func (l *podWorker) over() {
	l.turn++
	l.parked = nil
	if l.m.k.podWorkers[l.p] == l {
		delete(l.m.k.podWorkers, l.p)
	}
}

// freeze cancels what was to be done about the pods of a machine that has
// stopped.
func (k *Kubelets) freeze(m *machine) {
	for _, p := range k.env.API.PodsOn(m.i.Name) {
		if l := k.podWorkers[p]; l != nil && l.m == m {
			if l.ip != p.PodIP {
				m.giveAddress(l.ip)
			}
			l.over()
		}
	}
}

// adopt looks through the pods of the machine's node: those that came, were
// deleted or were called not ready while the kubelet didn't learn of it.
func (m *machine) adopt() {
	if !m.works() {
		return
	}
	for _, p := range slices.Clone(m.k.env.API.PodsOn(m.i.Name)) {
		l := m.k.podWorkers[p]
		switch {
		case p.Gone():
		case l != nil && l.parked != nil:
			step := l.parked
			l.next(l.draw(seePod), step)
			if p.Terminating() && !l.stopping {
				m.k.podTerminated(m, p)
			}
		case l != nil:
			if p.Terminating() && !l.stopping {
				m.k.podTerminated(m, p)
			}
		case p.Terminating():
			m.k.podTerminated(m, p)
		case p.Terminal():
		case p.Phase == "Running" && len(p.Containers) > 0 && p.Containers[0].State.Kind == "running":
			switch {
			case hasLifecycle(p) && m.k.cfg.Profile != Kwok:
				w := m.k.newPodWorker(m, p)
				w.next(w.draw(seePod), w.lifecycle.begin)
			case redefined(p):
				m.podRedefined(p, nil)
			case unready(p) && m.k.cfg.Profile != Kwok:
				m.resumeStart(p)
			default:
				m.reconcile(p)
			}
		default:
			m.k.podBound(m, p)
		}
	}
}

// unready reports whether a container of a pod still starts.
func unready(p *kube.Pod) bool {
	return slices.ContainsFunc(p.Containers, func(c kube.Container) bool { return !c.Ready })
}

// resumeStart resumes the start of a pod some of whose containers run, where another process had begun it: with the first
// container that doesn't run yet, or else with the wait until they are ready.
func (m *machine) resumeStart(p *kube.Pod) {
	l := m.k.newPodWorker(m, p)
	step := l.running
	if at := slices.IndexFunc(l.cs, func(c kube.Container) bool { return c.State.Kind != "running" }); at >= 0 {
		l.at, step = at, l.fetch
	}
	l.next(l.draw(seePod), step)
}

// reconcile restores Ready on a pod whose containers are ready, where another client has said that it isn't
// (needsReconcile of pkg/kubelet/status).
func (m *machine) reconcile(p *kube.Pod) {
	if !m.works() || p.Gone() || p.Terminal() || m.k.podWorkers[p] != nil || p.Ready() || len(p.Containers) == 0 {
		return
	}
	for c := range p.Containers {
		if !p.Containers[c].Ready {
			return
		}
	}
	m.k.write(p, func(p *kube.Pod) {
		p.Conditions = m.podConditions(p, true)
	})
}

// resume is a kubelet's first look at the pods that are bound to its node. On a
// machine that has booted none of them runs any more, whatever their status says.
func (m *machine) resume() {
	if !m.wiped {
		m.adopt()
		return
	}
	m.wiped = false
	for _, p := range slices.Clone(m.k.env.API.PodsOn(m.i.Name)) {
		if p.Terminal() && !p.Terminating() {
			continue
		}
		l := m.k.podWorker(m, p)
		l.lose()
		if p.Terminating() {
			m.k.podTerminated(m, p)
		} else {
			l.next(l.draw(seePod), l.admit)
		}
	}
}

// lose is what a boot does to a pod: its containers are found exited, with 255 and for an unknown reason, its sandbox
// and its address are gone.
func (l *podWorker) lose() {
	l.ready, l.sandbox, l.ip = false, false, ""
	now := l.m.now().Second()
	for c := range l.cs {
		if s := &l.cs[c].State; s.Kind == "running" {
			l.again, l.lost = true, true
			*s = kube.ContainerState{
				Kind: "terminated", Reason: "Unknown", ExitCode: 255,
				StartedAt: s.StartedAt, Finished: max(now, s.StartedAt), ContainerID: l.cs[c].ContainerID,
			}
			l.cs[c].Ready, l.cs[c].Started = false, false
		}
	}
	if l.lifecycle != nil {
		l.lifecycle.lose(now)
	}
}

// podRemoved is the end of a pod whose object is gone although its containers
// may still run.
func (k *Kubelets) podRemoved(m *machine, p *kube.Pod) {
	l := k.podWorkers[p]
	ran := !p.Terminal() && p.Phase == "Running"
	ip := m.addressOf(p)
	if l != nil {
		ran = ran && l.exits == 0
		l.over()
	}
	if ip != "" {
		m.orphans = append(m.orphans, ip)
	}
	m.forgetLeak(p)
	m.retryResizes()
	m.after(m.draw(m.t.KillDelay), func() {
		if ran {
			for c := range p.Template.Containers {
				name := p.Template.Containers[c].Name
				m.recordPod(p, "Normal", "Killing", name, "Stopping container "+name)
			}
		}
		m.releaseOrphans()
		m.volumesChanged(p)
	})
}

// podLost is the end of a pod whose kubelet doesn't learn of it: it finds out
// when it comes back.
func (k *Kubelets) podLost(m *machine, p *kube.Pod) {
	if ip := m.addressOf(p); ip != "" && m.running && !m.wiped {
		m.orphans = append(m.orphans, ip)
	}
	if l := k.podWorkers[p]; l != nil {
		l.over()
	}
	m.forgetLeak(p)
}

// addressOf is the address that a pod holds, or "".
func (m *machine) addressOf(p *kube.Pod) string {
	if l := m.k.podWorkers[p]; l != nil {
		return l.ip
	}
	if p.Template.HostNetwork || p.Terminal() {
		return ""
	}
	return p.PodIP
}

// releaseOrphans cleans up what pods have left that were removed unheard.
func (m *machine) releaseOrphans() {
	for _, ip := range m.orphans {
		m.giveAddress(ip)
	}
	m.orphans = nil
}

// tell reports an event about one of the pod's containers, or about the pod
// where that is "".
func (l *podWorker) tell(kind, reason, container, message string) {
	l.m.recordPod(l.p, kind, reason, container, message)
}

func (m *machine) recordPod(p *kube.Pod, kind, reason, container, message string) {
	about := kube.AboutPod(p)
	if container != "" {
		about.FieldPath = m.k.fieldPath(container)
	}
	m.k.env.API.Record(m.source(), about, kind, reason, message)
}

// fieldPath returns the name of a container in events.
func (k *Kubelets) fieldPath(container string) string {
	path, ok := k.fields[container]
	if !ok {
		path = "spec.containers{" + container + "}"
		k.fields[container] = path
	}
	return path
}

// seePod is from a write of a pod until its kubelet has seen it.
var seePod = model.Uniform(5*time.Millisecond, 50*time.Millisecond)

// resumeAfter is from the return of a kubelet until it has gone through its
// pods.
var resumeAfter = model.Uniform(500*time.Millisecond, 2*time.Second)
