package kubelet

import (
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// podBound begins a pod on its node, for the first time or again after a reboot.
func (k *Kubelets) podBound(m *machine, p *kube.Pod) {
	if k.cfg.Profile == Kwok {
		k.startKwok(m, p)
		return
	}
	l := k.podWorker(m, p)
	l.next(l.draw(seePod), l.admit)
}

// admit takes the pod on, or refuses it.
func (l *podWorker) admit() {
	if l.p.Terminating() {
		l.m.k.podTerminated(l.m, l.p)
		return
	}
	if l.m.shutting {
		l.reject(model.RejectedReason, model.RejectedMessage)
		return
	}
	if len(l.cs) > 0 && l.begun {
		l.restartAfterBoot()
		return
	}
	if reason, message := l.unfit(); reason != "" {
		l.reject(reason, message)
		return
	}
	l.await()
	l.next(l.draw(l.m.t.StatusPost), func() {
		l.show()
		l.volume()
	})
}

// await sets all containers to waiting.
func (l *podWorker) await() {
	if l.lifecycle != nil {
		l.lifecycle.await()
		return
	}
	l.cs = make([]kube.Container, len(l.p.Template.Containers))
	for c := range l.cs {
		spec := &l.p.Template.Containers[c]
		l.cs[c] = kube.Container{Name: spec.Name, Image: spec.Image, State: kube.ContainerState{Kind: "waiting", Reason: "ContainerCreating"}}
	}
}

// restartAfterBoot is the start of a pod that ran before its machine booted.
func (l *podWorker) restartAfterBoot() {
	if !l.again {
		l.await()
		if l.p.PodIP != "" { // of a sandbox that is gone
			l.show()
		}
		l.volume()
		return
	}
	if l.lost && l.lifecycle == nil && l.p.Template.RestartPolicy == "Never" {
		// It gets no other sandbox (computePodActions of pkg/kubelet/kuberuntime/kuberuntime_manager.go).
		l.stopping = true
		l.terminate()
		return
	}
	l.show()
	l.next(l.draw(l.m.t.StatusPost), func() {
		l.tell("Normal", "SandboxChanged", "", "Pod sandbox changed, it will be killed and re-created.")
		l.volume()
	})
}

// reject is an answer that a pod doesn't come back from (rejectPod of
// pkg/kubelet/kubelet.go).
func (l *podWorker) reject(reason, message string) {
	l.tell("Warning", reason, "", message)
	l.m.k.write(l.p, func(p *kube.Pod) {
		p.Phase, p.Reason, p.Message = "Failed", reason, "Pod was rejected: "+message
		if p.Started == 0 {
			p.Started = l.m.startOf(p)
		}
	})
	l.m.volumesChanged(l.p)
	l.over()
}

// volume waits until the pod's volume is attached to this machine, and mounts it.
func (l *podWorker) volume() {
	if l.p.Claim == "" || l.p.Template.Volume == "" {
		l.network()
		return
	}
	k, key := l.m.k, component.VolumeKey(l.p)
	l.m.volumesChanged(l.p)
	if l.attached() {
		l.next(l.draw(mountVolume), l.network)
		return
	}
	if !slices.Contains(k.waiting[key], l) {
		k.waiting[key] = append(k.waiting[key], l)
	}
	l.next(l.m.exactly(l.m.t.MountTimeout), func() {
		name := l.p.Template.Volume
		l.tell("Warning", "FailedMount", "", fmt.Sprintf(
			"Unable to attach or mount volumes: unmounted volumes=[%s], unattached volumes=[%s], failed to process volumes=[]: context deadline exceeded", name, name))
		l.next(l.draw(podResync), l.volume)
	})
}

// mountVolume is from a volume's attachment until it is formatted and mounted.
var mountVolume = model.Uniform(300*time.Millisecond, 1500*time.Millisecond)

// volumeAttached wakes the pods that wait for the volume.
func (k *Kubelets) volumeAttached(volume, instance string) {
	waiting := k.waiting[volume]
	if len(waiting) == 0 {
		return
	}
	delete(k.waiting, volume)
	for _, l := range waiting {
		if k.podWorkers[l.p] == l && !l.stopping {
			l.next(l.draw(seePod), l.volume)
		}
	}
}

// network makes the pod's sandbox.
func (l *podWorker) network() {
	m := l.m
	if l.p.Template.HostNetwork {
		l.next(l.draw(m.t.Sandbox), l.networked)
		return
	}
	if m.trouble&model.NetworkPluginNotReady != 0 {
		l.tell("Warning", "NetworkNotReady", "", "network is not ready: container runtime network not ready: NetworkReady=false "+
			"reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized")
		l.next(l.draw(networkRetry), l.network)
		return
	}
	if m.i.Group.FreeIPs <= 0 {
		l.next(l.draw(m.t.Sandbox), l.noAddress)
		return
	}
	ip := m.takeAddress()
	if ip == "" {
		l.next(l.draw(m.t.Sandbox), l.noAddress)
		return
	}
	m.i.Group.FreeIPs--
	l.ip = ip
	l.next(l.draw(m.t.Sandbox), l.networked)
}

// networkRetry is backOffOnTransientErrorPeriod of pkg/kubelet/pod_workers.go,
// and the sync that follows.
var networkRetry = model.Uniform(time.Second, 2*time.Second)

// noAddress is a sandbox that the network plugin had no address for.
func (l *podWorker) noAddress() {
	l.tell("Warning", "FailedCreatePodSandBox", "", "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox \""+
		l.chance.Hex(64)+"\": plugin type=\"aws-cni\" name=\"aws-cni\" failed (add): add cmd: failed to assign an IP address to container")
	l.next(l.draw(podResync), l.network)
}

// networked is a sandbox that stands.
func (l *podWorker) networked() {
	l.sandbox = true
	l.at, l.seen, l.held = 0, l.p.Template, nil
	if l.lifecycle != nil {
		l.lifecycle.begin()
		return
	}
	l.fetch()
}

// create creates and starts the container whose image is there.
func (l *podWorker) create() {
	l.next(l.draw(l.m.t.ContainerStart), l.run)
}

func (l *podWorker) run() {
	m := l.m
	c := &l.cs[l.at]
	created, started := startedTexts(m.v, c.Name)
	l.tell("Normal", "Created", c.Name, created)
	l.tell("Normal", "Started", c.Name, started)
	image := m.k.images.of(l.image)
	last := c.State
	*c = kube.Container{
		Name: c.Name, Image: l.image, ImageID: m.k.images.digest(image), ContainerID: l.nextID(c), Started: true,
		Restarts: c.Restarts, Last: c.Last, State: kube.ContainerState{Kind: "running", StartedAt: m.now().Second()},
		Given: l.giveTo(c),
	}
	switch {
	case last.Kind == "terminated":
		c.Restarts++
		c.Last = last
	case last.Reason == "CrashLoopBackOff", l.owed:
		c.Restarts++
	}
	l.owed = false
	if len(l.cs) > 1 && !slices.Contains(l.crashes(), l.at) {
		l.readyAlone(l.at)
	}
	if next := l.toStart(); next >= 0 {
		l.at = next
		l.fetch()
		l.showMeanwhile()
		return
	}
	if len(l.held) > 0 {
		l.startedBesideHeld()
		return
	}
	l.running()
}

// startedTexts are the kubelet's messages about a container that it has created and started.
func startedTexts(v model.Version, name string) (created, started string) {
	switch {
	case v.Minor >= 36:
		return "Container created", "Container started"
	case v.Minor >= 32:
		return "Created container: " + name, "Started container " + name
	}
	return "Created container " + name, "Started container " + name
}

// soon is the time within which two states of a pod become one write, from the kubelet's own period of one second
// (genericPlegRelistPeriod).
const soon = time.Second

// running is a pod all of whose containers run.
func (l *podWorker) running() {
	m := l.m
	l.syncing = false
	l.agentRuns()
	if !sameContainers(l.seen, l.p.Template) {
		l.next(l.draw(seePod), l.sync)
		return
	}
	l.actuated()
	d := m.t.ContainerReady
	if l.traits != nil {
		d = l.traits.StartReady
	}
	ready, post := l.unlessUnprobed(l.draw(d)), l.draw(m.t.StatusPost)
	if l.dies = l.crashes(); len(l.dies) > 0 {
		l.next(post, func() {
			l.show()
			l.next(l.draw(m.t.CrashRun), l.crash)
		})
		return
	}
	l.failures = 0
	if ready = l.readyIn(ready); ready <= soon && !l.replaced {
		l.next(max(ready, post), l.becomeReady)
		return
	}
	l.next(post, func() {
		l.show()
		l.next(max(ready-post, 0)+l.draw(m.t.StatusPost), l.becomeReady)
	})
}

// unlessUnprobed is the time until a container is ready: none where nothing probes it and nothing else is known of its
// program.
func (l *podWorker) unlessUnprobed(ready time.Duration) time.Duration {
	if l.traits == nil && l.p.Template.Unprobed {
		return 0
	}
	return ready
}

func (l *podWorker) becomeReady() {
	for c := range l.cs {
		l.cs[c].Ready = true
	}
	l.ready = true
	l.show()
	l.m.watchLeak(l.p)
	if l.traits != nil && l.traits.Run != nil {
		l.next(l.draw(*l.traits.Run), l.complete)
		return
	}
	l.over()
}
