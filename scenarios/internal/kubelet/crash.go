package kubelet

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// crashes returns the containers that can't live where they are: the network
// plugin's on a machine whose network never comes up, and those whose image is
// spoilt.
func (l *podWorker) crashes() (all []int) {
	if l.traits != nil && l.traits.NetworkPlugin && l.m.i.Ailments.CNIBroken {
		return []int{0}
	}
	registry := &l.m.k.env.Cloud.Registry
	for c := range l.cs {
		if registry.Spoilt(l.cs[c].Image) {
			all = append(all, c)
		}
	}
	return all
}

// Crash has a container of a running pod exit by itself, as a program does that
// fails; "" is the first one. It reports whether there was such a container,
// under a kubelet that isn't about to do something with it.
func (k *Kubelets) Crash(p *kube.Pod, container string) bool {
	m := k.byNode[p.NodeName]
	at := slices.IndexFunc(p.Containers, func(c kube.Container) bool {
		return (c.Name == container || container == "") && c.State.Kind == "running"
	})
	waits := slices.ContainsFunc(p.Containers, func(c kube.Container) bool { return c.State.Kind != "running" })
	if m == nil || at < 0 || waits || k.cfg.Profile == Kwok || !m.works() || p.Terminating() || p.Terminal() {
		return false
	}
	l := k.newPodWorker(m, p)
	if l.lifecycle != nil {
		return l.lifecycle.crash(container)
	}
	if l.stopping || l.syncing {
		return false
	}
	l.dies = []int{at}
	if last := l.cs[at].Last; last.ExitCode == crashed && m.now().Sub(last.Finished) < forgiven {
		l.failures = max(l.failures, 1)
	}
	l.next(l.draw(m.t.StatusPost), l.crash)
	return true
}

const (
	// crashed is the exit code of a program that fails.
	crashed = 1
	// forgiven is after how long a crash no longer counts: twice the longest
	// back-off (k8s.io/client-go/util/flowcontrol/backoff.go).
	forgiven = 10 * time.Minute
)

// crash is the end of such a run: the containers exit with 1, are held back for
// 10 s, 20 s and so on up to 5 min, and are started once more (doBackOff of
// pkg/kubelet/kuberuntime/kuberuntime_manager.go).
func (l *podWorker) crash() {
	for _, at := range l.dies {
		c := &l.cs[at]
		c.State = kube.ContainerState{
			Kind: "terminated", Reason: "Error", ExitCode: crashed,
			StartedAt: c.State.StartedAt, Finished: l.m.now().Second(), ContainerID: c.ContainerID,
		}
		c.Ready, c.Started = false, false
	}
	l.ready = false
	l.failures++
	if l.p.Template.RestartPolicy == "Never" {
		l.crashForGood()
		return
	}
	l.show()
	crashes := l.failures
	wait := model.CrashBackOff(crashes)
	if wait == 0 {
		l.next(l.draw(relist), l.rerun)
		return
	}
	until := l.m.now().Add(wait)
	l.next(l.draw(relist), func() {
		for _, l.at = range l.dies {
			c := &l.cs[l.at]
			ended := c.State
			c.State, c.Last = l.waits(model.ContainerCrashBackOff, "", crashes), ended
		}
		l.holdBack(until)
		l.show()
	})
}

// crashForGood is the end of containers that aren't started again (ShouldContainerBeRestarted of
// pkg/kubelet/container/helpers.go). With the last one the pod has ended.
func (l *podWorker) crashForGood() {
	if slices.ContainsFunc(l.cs, func(c kube.Container) bool { return c.State.Kind != "terminated" }) {
		l.show()
		if l.traits != nil && l.traits.Run != nil { // Crash has put off their end
			l.next(l.draw(*l.traits.Run), l.complete)
		}
		return
	}
	l.stopping = true
	l.terminate()
}

// holdBack is a look at a container that isn't to be started yet.
func (l *podWorker) holdBack(until kube.Instant) {
	if l.m.now() >= until {
		l.rerun()
		return
	}
	for _, at := range l.dies {
		name := l.cs[at].Name
		l.tell("Warning", "BackOff", name, "Back-off restarting failed container "+name+" in pod "+l.p.Name+"_"+l.p.Namespace+"("+l.p.UID+")")
	}
	l.next(l.draw(podResync), func() { l.holdBack(until) })
}

// rerun starts the containers again; the others run on.
func (l *podWorker) rerun() {
	l.at = l.dies[0]
	l.fetch()
}
