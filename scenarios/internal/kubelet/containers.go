package kubelet

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// The containers of one pod. A kubelet starts them one after the other, in the order of the spec; where one can't be
// started, it starts the others first (SyncPod of pkg/kubelet/kuberuntime/kuberuntime_manager.go). They become ready and
// exit each in its own time.

// heldBack is a container whose image couldn't be pulled, while others are started.
type heldBack struct {
	at       int
	failure  string
	failures int
	owed     bool // its next run is still to be counted
	until    kube.Instant
}

// toStart returns the first container that doesn't run and isn't held back, or -1.
func (l *podWorker) toStart() int {
	return slices.IndexFunc(l.cs, func(c kube.Container) bool {
		return c.State.Kind != "running" && !slices.ContainsFunc(l.held, func(h heldBack) bool { return l.cs[h.at].Name == c.Name })
	})
}

// elsewhere holds the container back that couldn't be started, and has the kubelet start the others first. A pod of one
// container has none.
func (l *podWorker) elsewhere(failure string, until kube.Instant) bool {
	if len(l.cs) == 1 {
		return false
	}
	first := l.failures == 1
	l.held = append(l.held, heldBack{l.at, failure, l.failures, l.owed, until})
	l.failures, l.owed = 0, false
	if next := l.toStart(); next >= 0 {
		l.at = next
		l.fetch()
		return true
	}
	sync := podResync
	if first {
		sync = relist
	}
	l.next(l.draw(sync), l.lookAtHeld)
	return true
}

// lookAtHeld is a look at a pod some of whose containers are held back.
func (l *podWorker) lookAtHeld() {
	if i := slices.IndexFunc(l.held, func(h heldBack) bool { return h.until <= l.m.now() }); i >= 0 {
		h := l.held[i]
		l.held = slices.Delete(l.held, i, i+1)
		l.at, l.failures, l.owed = h.at, h.failures, h.owed
		l.fetch()
		return
	}
	for _, h := range l.held {
		l.at, l.image = h.at, l.p.Template.Containers[h.at].Image
		l.tellBackOff()
		l.cs[h.at].State = l.waits(model.ContainerPullBackOff, h.failure, 0)
	}
	l.show()
	l.next(l.draw(podResync), l.lookAtHeld)
}

// startedBesideHeld is a pod whose other containers all run.
func (l *podWorker) startedBesideHeld() {
	l.syncing = false
	l.next(l.draw(l.m.t.StatusPost), func() {
		l.show()
		l.next(l.draw(relist), l.lookAtHeld)
	})
}

// readyAlone has a container become ready that starts now, whatever happens to the others.
func (l *podWorker) readyAlone(c int) {
	d := l.m.t.ContainerReady
	if l.traits != nil {
		d = l.traits.Container(c).StartReady
	}
	takes := l.unlessUnprobed(l.draw(d))
	if l.readyAt == nil {
		l.readyAt = make([]kube.Instant, len(l.cs))
	}
	l.readyAt[c] = l.m.now().Add(takes)
	id := l.cs[c].ContainerID
	l.m.after(takes+l.draw(l.m.t.StatusPost), func() {
		if l.current() && l.cs[c].ContainerID == id && l.cs[c].State.Kind == "running" {
			l.cs[c].Ready = true
			l.show()
		}
	})
}

// current reports whether the kubelet still starts and keeps the pod's containers.
func (l *podWorker) current() bool {
	return l.m.k.podWorkers[l.p] == l && l.m.works() && !l.p.Gone() && !l.stopping
}

// showMeanwhile writes the status of containers that run while the next one's image is pulled.
func (l *podWorker) showMeanwhile() {
	turn := l.turn
	l.m.after(l.draw(relist), func() {
		if l.current() && l.turn == turn {
			l.show()
		}
	})
}

// readyIn is the time until all containers are ready, all of which run; one is that of a pod of one container.
func (l *podWorker) readyIn(one time.Duration) (longest time.Duration) {
	if len(l.cs) == 1 {
		return one
	}
	for c := range l.cs {
		switch {
		case l.cs[c].Ready:
		case l.readyAt == nil || l.readyAt[c] == 0: // another process has started it
			longest = max(longest, one)
		default:
			longest = max(longest, l.readyAt[c].Sub(l.m.now()))
		}
	}
	return longest
}

// stop is when a container exits that was asked to, and whether it is killed then.
type stop struct {
	at     kube.Instant
	killed bool
}

// stopAll settles when the containers exit, within their grace.
func (l *podWorker) stopAll(grace time.Duration) {
	now := l.m.now()
	l.stops = make([]stop, len(l.cs))
	for c := range l.cs {
		if l.cs[c].State.Kind == "running" {
			takes, killed := l.stopOf(c, grace)
			l.stops[c] = stop{now.Add(takes), killed}
			l.exits = max(l.exits, l.stops[c].at)
		}
	}
	l.exitInTurn()
}

// hurry kills the containers that run on at a moment.
func (l *podWorker) hurry(by kube.Instant) {
	if l.lifecycle != nil {
		l.lifecycle.hurry(by)
		return
	}
	l.exits = by
	for c := range l.stops {
		if l.stops[c].at > by {
			l.stops[c] = stop{by, true}
		}
	}
	l.exitInTurn()
}

// exitInTurn has the containers exit each in its time, the last ones together with the pod.
func (l *podWorker) exitInTurn() {
	first, killed := l.exits, false
	for c := range l.cs {
		if l.cs[c].State.Kind == "running" {
			first = min(first, l.stops[c].at)
			killed = killed || l.stops[c].at == l.exits && l.stops[c].killed
		}
	}
	if first == l.exits {
		l.next(first.Sub(l.m.now()), func() { l.exit(killed) })
		return
	}
	l.next(first.Sub(l.m.now()), func() {
		for c := range l.cs {
			if l.cs[c].State.Kind == "running" && l.stops[c].at <= first {
				l.cs[c].State = l.stopped(c, l.stops[c].killed)
				l.cs[c].Ready, l.cs[c].Started = false, false
			}
		}
		l.m.k.write(l.p, func(p *kube.Pod) {
			if l.m.v.PodGeneration() {
				p.ObservedGeneration = p.Generation
			}
			p.Phase = l.phase(true)
			p.Containers = slices.Clone(l.cs)
			p.Conditions = l.m.podConditions(p, l.sandbox)
		})
		l.exitInTurn()
	})
}
