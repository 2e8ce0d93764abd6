package kubelet

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Seed puts the kubelet on a machine that has been running since before the tape
// began, for age, and returns its Node, which it adds to the API: ready, posting
// its status at some point of its five minutes, renewing its lease at some point
// of its ten seconds. Labels and taints are those of a node that has joined.
func (k *Kubelets) Seed(i *cloud.Instance, age time.Duration) *kube.Node {
	return k.seed(i, age, age, nil)
}

// SeedAs is [Kubelets.Seed] of a node that is otherwise than its group's: change is called before it is added to the API.
func (k *Kubelets) SeedAs(i *cloud.Instance, age time.Duration, change func(*kube.Node)) {
	k.seed(i, age, age, change)
}

// SeedNow is [Kubelets.Seed] for an API server that sets creationTimestamp itself: the
// machine has been running for age, and its kubelet registers the Node and builds its
// first status now.
func (k *Kubelets) SeedNow(i *cloud.Instance, age time.Duration) *kube.Node {
	return k.seed(i, age, 0, nil)
}

// SeedNowAs is [Kubelets.SeedNow] of a node that is otherwise than its group's, as SeedAs has it.
func (k *Kubelets) SeedNowAs(i *cloud.Instance, age time.Duration, change func(*kube.Node)) {
	k.seed(i, age, 0, change)
}

// seed is Seed of a machine of an age, whose conditions are from posted ago, and whose node somebody has changed.
func (k *Kubelets) seed(i *cloud.Instance, age, posted time.Duration, change func(*kube.Node)) *kube.Node {
	m := k.newMachine(i)
	m.bootID = m.chance.UUID()
	m.running = true
	k.byNode[i.Name] = m
	now := m.now()
	created, built := now.Add(-age), now.Add(-posted)
	ready := built.Add(min(m.draw(m.t.BecomeReady), posted))
	m.started = built.Add(-min(m.draw(m.t.Register), 4*time.Second, posted))

	shape := m.shape()
	n := m.newNode()
	n.Created = created
	n.Labels = Pairs(shape.AllLabels())
	n.Annotations = Pairs(shape.AllAnnotations())
	n.PodCIDR = shape.PodCIDR
	n.Finalizers = shape.Finalizers
	n.Addresses = addressesOf(shape)
	n.Capacity, n.Allocatable = Pairs(shape.Capacity.Capacity()), Pairs(shape.Allocatable.Allocatable())
	n.Taints = nil
	for _, t := range k.cfg.Shape(i).Taints {
		n.Taints = append(n.Taints, kube.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	lease := now.Add(-time.Duration(m.chance.N(uint64(10 * time.Second))))
	if k.cfg.Profile == Kwok {
		k.seedKwok(m, n, built)
	} else {
		period := m.t.StatusReport.Median()
		since := time.Duration(m.chance.N(uint64(max(period, 1))))
		beat := max(now.Add(-since), ready)
		n.Conditions = m.conditions(nil, m.started.Second())
		for c := range n.Conditions {
			n.Conditions[c].Heartbeat = beat.Second()
		}
		n.Conditions[len(n.Conditions)-1].Transition = ready.Second()
		n.Conditions = withExtras(n.Conditions, model.ExtraConditions(k.cfg.Shape(i).Provider), beat.Second())
		n.Images = k.images.system(k.cfg.Shape(i))
		next := period - now.Sub(beat)
		if posted == 0 { // as if it had run for long: not all nodes at once
			next = period - since
		}
		m.postAfter(max(next, 0))
	}
	if change != nil {
		change(n)
	}
	k.env.API.SeedNode(n)
	m.node, m.joining = n, nil
	k.env.API.StartLease(n.Name, lease)
	return n
}

// Running fills in the status of a pod that its node has been running since a
// moment; the caller has set NodeName to a node of [Kubelets.Seed]. Pods of one
// second share their conditions.
func (k *Kubelets) Running(p *kube.Pod, since kube.Instant) {
	m := k.byNode[p.NodeName]
	if m == nil {
		return
	}
	if k.cfg.Profile == Kwok {
		k.runKwok(m, p, since)
		return
	}
	chance := k.env.Stream("pod", p.Namespace, p.Name)
	p.Phase = "Running"
	p.Started = since.Second()
	p.HostIP = m.hostIP
	p.PodIP = p.HostIP
	if !p.Template.HostNetwork {
		p.PodIP = m.takeAddress()
	}
	p.Containers = make([]kube.Container, len(p.Template.Containers))
	for c := range p.Containers {
		spec := &p.Template.Containers[c]
		p.Containers[c] = k.runs(m, spec, since, &chance)
		if p.Template.Resizable && m.v.InPlaceResize() {
			is := spec.Resources()
			p.Containers[c].Given = k.share(kube.Given{Allocated: is, Actual: is})
		}
	}
	p.Init = k.ranBefore(p, m, since, &chance)
	observed := int64(0)
	if m.v.PodGeneration() {
		observed = p.Generation
		p.ObservedGeneration = observed
	}
	p.Conditions = k.resting.get(since.Second(), observed, m.v.PodReadyToStartContainers())
	m.watchLeak(p)
}

// ranBefore is the status of the init containers of a pod that its node has been running since a moment: all have completed, but for sidecars.
func (k *Kubelets) ranBefore(p *kube.Pod, m *machine, since kube.Instant, chance *model.Stream) (init []kube.Container) {
	specs := p.Template.Init()
	for i := range specs {
		c := k.runs(m, &specs[i], since, chance)
		if at := c.State.StartedAt; !specs[i].Sidecar {
			c.Started, c.State = false, kube.ContainerState{Kind: "terminated", Reason: "Completed", StartedAt: at, Finished: at, ContainerID: c.ContainerID}
		}
		init = append(init, c)
	}
	return init
}

// runs is the status of a container that runs since a moment, whose image is kept on the machine.
func (k *Kubelets) runs(m *machine, spec *kube.ContainerSpec, since kube.Instant, chance *model.Stream) kube.Container {
	image := k.images.of(spec.Image)
	m.keep(image)
	return kube.Container{
		Name: spec.Name, Image: spec.Image, ImageID: k.images.digest(image), ContainerID: containerID(chance),
		Ready: true, Started: true, State: kube.ContainerState{Kind: "running", StartedAt: since.Second()},
	}
}

// restingConditions are those of running pods, shared by all of one second.
type restingConditions struct {
	of map[restingKey]kube.Conditions
}

type restingKey struct {
	at, observed int64
	sandbox      bool
}

func (r *restingConditions) get(at kube.Instant, observed int64, sandbox bool) kube.Conditions {
	k := restingKey{int64(at), observed, sandbox}
	if c, ok := r.of[k]; ok {
		return c
	}
	if r.of == nil {
		r.of = map[restingKey]kube.Conditions{}
	}
	kinds := [...]string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"}
	out := make(kube.Conditions, 0, len(kinds))
	for i, kind := range kinds {
		if i > 0 || sandbox {
			out = append(out, kube.Condition{Type: kind, Status: "True", Transition: at, Observed: observed})
		}
	}
	r.of[k] = out
	return out
}

// nextID is the identity of a container that takes the place of another one. After a boot a worker draws what the one before
// it drew.
func (l *podWorker) nextID(before *kube.Container) string {
	id := containerID(&l.chance)
	for id == before.ContainerID || id == before.Last.ContainerID {
		id = containerID(&l.chance)
	}
	return id
}

// containerID is an identity that containerd gives.
func containerID(chance *model.Stream) string {
	const scheme = "containerd://"
	b := make([]byte, 0, len(scheme)+64)
	return string(chance.AppendHex(append(b, scheme...), 64))
}
