// Package kubelet is the kubelets of a simulated cluster: nodes register and post their status, pods start, become ready,
// crash, are resized and stop.
//
// In: instances at the provider and pods that are bound. Out: writes of nodes, Leases, pods' status and Events. It must
// never create or delete a pod, save to remove one that has stopped.
package kubelet

import (
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Profile says whose hand writes nodes and pods.
type Profile int

const (
	// Real is a kubelet of Kubernetes with containerd.
	Real Profile = iota
	// Kwok is kwok 0.8 with the stages of internal/testing/testcluster: one write
	// for a node that gets ready, one for a pod, and no events.
	Kwok
)

// Config holds what Kubelets need besides the API and the cloud.
type Config struct {
	Profile Profile
	// Timings are those of a group's machines.
	Timings func(*cloud.Group) *model.Timings
	// Shape describes the nodes of an instance's group, with the instance's template, and Place the instance's own
	// properties.
	Shape func(*cloud.Instance) model.Shape
	Place func(*cloud.Instance) model.Place
	// PodIP is the address of a pod by its number on the machine, 1 to 255; nil
	// takes it from the node's PodCIDR or, where it has none, from 100.64.0.0/10.
	PodIP func(i *cloud.Instance, number int) string
	// Volume returns the name that nodes give the volume of a pod's claim, "" while it isn't known, where a real
	// control plane attaches it. Nil is a simulation: there the provider alone says what is attached, and no node
	// what is in use.
	Volume func(*kube.Pod) string
	// Fits has kubelets refuse pods that a client has bound to a node where they don't fit. It isn't set where no client
	// binds pods, and in a live run, which itself binds the pods of its beginning.
	Fits bool
	// Kwok are the delays of kwok's stages; of [Kwok] alone.
	Kwok KwokDelays
}

// Kubelets are the kubelets of all machines, one on each.
//
// They start with the machine, register its Node and keep its status; they start
// the pods that are bound to it and stop those that are deleted. What ails a
// machine they learn from the cloud, and what is asked of them from the API.
// A machine at rest has one call in the loop, its next status post, and a pod
// that runs or has ended has none, nor any memory beside its object.
type Kubelets struct {
	env *component.Env
	cfg Config

	machines   map[*cloud.Instance]*machine
	byNode     map[string]*machine        // the one whose kubelet goes by the name
	podWorkers map[*kube.Pod]*podWorker   // of pods that are being started or stopped
	waiting    map[string][]*podWorker    // by the volume that they wait for
	fields     map[string]string          // how events name containers, by their names
	given      map[kube.Given]*kube.Given // one for all containers that have the same
	writing    bool                       // a write that is under way is a kubelet's own

	scratch podScratch
	images  images
	resting restingConditions
}

// New puts a kubelet on every machine that is started from now on. Those
// that run already are handed to [Kubelets.Seed].
func New(env *component.Env, cfg Config) *Kubelets {
	k := &Kubelets{
		env: env, cfg: cfg,
		machines: map[*cloud.Instance]*machine{}, byNode: map[string]*machine{},
		podWorkers: map[*kube.Pod]*podWorker{}, waiting: map[string][]*podWorker{}, fields: map[string]string{},
		given: map[kube.Given]*kube.Given{},
	}
	env.Cloud.Watch(k.instanceChanged)
	if cfg.Volume == nil {
		env.Cloud.Volumes.Watch(k.volumeAttached)
	} else {
		env.API.WatchNodes(k.volumesListed)
	}
	env.API.WatchPods(k.podChanged)
	env.API.WatchNodes(k.nodeChanged)
	return k
}

func (k *Kubelets) instanceChanged(c cloud.Change, i *cloud.Instance) {
	m := k.machines[i]
	switch c {
	case cloud.Launched, cloud.Told:
	case cloud.Started:
		if m == nil {
			m = k.newMachine(i)
		}
		k.env.After(0, m.boot)
	case cloud.ShutdownAsk:
		if m != nil {
			k.env.After(0, m.shutDown)
		}
	case cloud.Ended:
		if m != nil {
			k.env.After(0, m.end)
		}
	case cloud.Ailing:
		if m != nil {
			k.env.After(0, m.ail)
		}
	}
}

func (k *Kubelets) nodeChanged(c kube.Change, old, n *kube.Node) {
	if c != kube.Modified || old.Unschedulable == n.Unschedulable || k.cfg.Profile == Kwok {
		return
	}
	if m := k.byNode[n.Name]; m != nil && m.node == n {
		m.after(m.draw(m.t.NodeNotSchedulable), m.noticeCordon)
	}
}

// podChanged notes what a kubelet has to do about a pod of its node.
func (k *Kubelets) podChanged(c kube.Change, old, p *kube.Pod) {
	if k.writing || p.NodeName == "" {
		return
	}
	m := k.byNode[p.NodeName]
	if m == nil {
		return
	}
	if !m.reachable() {
		// A kubelet that comes up goes through the pods of its node.
		if c == kube.Deleted {
			k.podLost(m, p)
		}
		return
	}
	switch {
	case c == kube.Deleted:
		k.podRemoved(m, p)
	case c == kube.Added || old.NodeName == "":
		if p.Phase == "Pending" || p.Phase == "" {
			k.podBound(m, p)
		}
	case p.Terminating() && (!old.Terminating() || p.Grace < old.Grace):
		k.podTerminated(m, p)
	case !sameContainers(old.Template, p.Template):
		m.podRedefined(p, old.Template)
	case k.podWorkers[p] != nil && k.podWorkers[p].lifecycle != nil:
		k.podWorkers[p].lifecycle.looked(p, old.Template != p.Template)
	case k.podWorkers[p] == nil && !hasLifecycle(old) && hasLifecycle(p) && p.Phase == "Running" && k.cfg.Profile != Kwok:
		l := k.newPodWorker(m, p) // it has been given a deadline
		l.next(l.draw(seePod), l.lifecycle.begin)
	case old.Ready() && !p.Ready() && !p.Terminal() && k.podWorkers[p] == nil:
		// Another client says that the pod isn't ready.
		m.after(m.draw(m.t.NodeNotSchedulable), func() { m.reconcile(p) })
	}
}

// write changes a pod in a kubelet's name.
func (k *Kubelets) write(p *kube.Pod, change func(*kube.Pod)) {
	k.writing = true
	k.env.API.UpdatePod(p, change)
	k.writing = false
}
