package kubelet

import (
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// A pod's spec may change while it runs: the images of its containers, and,
// since 1.33, their resources. The kubelet compares what runs with what the spec
// says, kills what differs and starts it again; the sandbox, the address and
// everything else of the pod stay (computePodActions and containerChanged of
// pkg/kubelet/kuberuntime/kuberuntime_manager.go, HashContainer of
// pkg/kubelet/container/helpers.go: name and image alone count).

// redefined reports whether a pod at rest runs something else than its spec says.
func redefined(p *kube.Pod) bool {
	for c := range p.Containers {
		if c >= len(p.Template.Containers) {
			break
		}
		is, spec := &p.Containers[c], &p.Template.Containers[c]
		if is.Image != spec.Image || is.Given != nil && is.Given.Allocated != spec.Resources() && p.Conditions.Get(component.ResizePending) == nil {
			return true
		}
	}
	return false
}

// sameContainers reports whether nothing of two templates differs that may
// change in a pod's spec.
func sameContainers(a, b *kube.Template) bool {
	return a == b || slices.Equal(a.Containers, b.Containers)
}

// podRedefined is a change of the spec of a pod on the machine; was is the template before, nil where it isn't known
// any more. A pod whose containers are still to be started is started by the new spec. Between the kill of a
// container and its next run the kubelet doesn't look: it does so after that.
func (m *machine) podRedefined(p *kube.Pod, was *kube.Template) {
	if m.k.cfg.Profile == Kwok || p.Terminal() || p.Terminating() {
		return
	}
	if m.k.podWorkers[p] == nil && len(p.Containers) == 0 {
		return
	}
	l := m.k.newPodWorker(m, p)
	if l.lifecycle != nil {
		if l.sandbox && !l.stopping {
			m.after(l.draw(seePod), func() {
				if l.current() {
					l.lifecycle.redefine()
				}
			})
		}
		return
	}
	l.rememberGiven(was)
	if l.stopping || l.syncing || !l.sandbox || l.inBackoffOnly() {
		return
	}
	l.next(l.draw(seePod), l.sync)
}

// newPodWorker is the kubelet's state of a pod that runs. One that was at rest has a luck of its own after each
// restart: else its containers would come again with the same identity.
func (k *Kubelets) newPodWorker(m *machine, p *kube.Pod) *podWorker {
	if l := k.podWorkers[p]; l != nil {
		return l
	}
	l := k.podWorker(m, p)
	restarts := int32(0)
	for c := range l.cs {
		restarts += l.cs[c].Restarts
	}
	l.chance = model.NewStreamAt(k.env.Seed, uint64(p.Created), "kubelet", "pod", p.Namespace, p.Name, "restarts", strconv.Itoa(int(restarts)))
	return l
}

// inBackoffOnly reports whether a container that is held back is all that the
// kubelet is about, and the pod's spec has no new image for any container.
func (l *podWorker) inBackoffOnly() bool {
	waits := false
	for c := range l.cs {
		image := l.p.Template.Containers[c].Image
		switch {
		case l.cs[c].State.Kind == "running":
			if l.cs[c].Image != image {
				return false
			}
		case c == l.at && l.image != image, c != l.at && l.cs[c].Image != image:
			return false
		default:
			waits = true
		}
	}
	return waits
}

// sync is the kubelet's look at a pod whose spec has changed.
func (l *podWorker) sync() {
	if l.p.Terminating() {
		l.m.k.podTerminated(l.m, l.p)
		return
	}
	l.seen, l.held = l.p.Template, nil
	l.allocate()
	l.show()
	if toKill := l.changed(); len(toKill) > 0 {
		l.syncing, l.replaced = true, true
		l.replace(toKill)
		return
	}
	waiting := slices.IndexFunc(l.cs, func(c kube.Container) bool { return c.State.Kind != "running" })
	switch {
	case waiting >= 0:
		l.failures = 0
		l.at = waiting
		l.fetch()
	case l.resizes():
		l.next(l.draw(relist), l.resized)
	default:
		l.rest()
	}
}

// rest is the end of a look that has found all containers running.
func (l *podWorker) rest() {
	switch {
	case !l.p.Ready():
		l.running()
	case l.traits != nil && l.traits.Run != nil:
		l.next(l.draw(*l.traits.Run), l.complete)
	default:
		l.over()
	}
}

// containerToKill is one that is to be killed, and what the kubelet says of it.
type containerToKill struct {
	at      int
	message string
}

// changed are the running containers that differ from the pod's spec.
func (l *podWorker) changed() (toKill []containerToKill) {
	for c := range l.cs {
		is := &l.cs[c]
		switch {
		case is.State.Kind != "running":
		case is.Image != l.p.Template.Containers[c].Image:
			toKill = append(toKill, containerToKill{c, "Container " + is.Name + " definition changed, will be restarted"})
		case l.restartsToResize(c):
			toKill = append(toKill, containerToKill{c, "Container " + is.Name + " resize requires restart"})
		}
	}
	return toKill
}

// leastGrace is the least grace period of a container that is killed (minimumGracePeriodInSeconds of
// pkg/kubelet/kuberuntime).
const leastGrace = 2 * time.Second

// replace kills containers one after the other, and starts them by the spec.
func (l *podWorker) replace(toKill []containerToKill) {
	if len(toKill) == 0 {
		l.m.forgetLeak(l.p)
		l.failures = 0
		l.at = slices.IndexFunc(l.cs, func(c kube.Container) bool { return c.State.Kind != "running" })
		l.unanswered()
		l.fetch()
		return
	}
	c := toKill[0].at
	l.tell("Normal", "Killing", l.cs[c].Name, toKill[0].message)
	takes, killed := l.stopOf(c, max(time.Duration(l.p.Template.GraceSeconds)*time.Second, leastGrace))
	l.next(takes, func() {
		l.cs[c].State = l.stopped(c, killed)
		l.cs[c].Ready, l.cs[c].Started = false, false
		l.replace(toKill[1:])
	})
}

// probesFail is the time until the end of a container whose image is being pulled is noticed: its readiness probe has
// to fail three times, ten seconds apart (periodSeconds and failureThreshold of pkg/apis/core/v1/defaults.go). The
// kubelet posts nothing else of the pod meanwhile.
var probesFail = model.Uniform(20*time.Second, 30*time.Second)

// unanswered has the probes fail where the next run is a long time coming.
func (l *podWorker) unanswered() {
	at := l.turn
	l.m.after(l.draw(probesFail), func() {
		// The pull is the one step between the kill and the start.
		if l.m.k.podWorkers[l.p] != l || l.turn != at+1 || !l.syncing || !l.m.works() || l.p.Gone() {
			return
		}
		l.m.k.write(l.p, func(p *kube.Pod) {
			p.Containers = slices.Clone(p.Containers)
			for c := range p.Containers {
				p.Containers[c].Ready = l.cs[c].Ready
			}
			p.Conditions = l.m.podConditions(p, l.sandbox)
		})
	})
}
