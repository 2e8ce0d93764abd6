package controllers

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// AttachDetach is the attach-detach controller of kube-controller-manager
// (pkg/controller/volume/attachdetach/reconciler/reconciler.go): it attaches the
// volume of a bound pod's claim to the pod's instance, and detaches it when no
// pod there needs it any more. A volume is attached to one instance at most, so
// that a pod that moved waits for the old node to let go; one whose node can't
// say so is taken from it by force after six minutes.
//
// The real one reads from status.volumesInUse whether a volume is mounted. No
// node of the simulation has that: a machine that runs has unmounted what none of
// its pods needs, one that is silent has not.
type AttachDetach struct {
	env     *component.Env
	volumes map[string]*volume
	held    map[string][]*volume // by the node that holds them
	named   func(p *kube.Pod) (name, handle string)
}

// volume is the controller's record of a claim's volume.
type volume struct {
	key      string // namespace/claim, the provider's name for it here
	name     string // of the PersistentVolume
	handle   string // as nodes list it
	chance   model.Stream
	users    []*kube.Pod // bound pods that need it
	holder   *cloud.Instance
	unused   kube.Instant // since when the holder's pods don't need it; 0 while they do
	reported []string     // nodes whose pods were told that another one holds it
	moving   bool         // an attachment or detachment is on its way
	retries  int
	wake     *loop.Timer
	waking   kube.Instant // when wake comes
}

var attachDetach = kube.Source{Component: "attachdetach-controller"}

const (
	// The operations of the controller are repeated ever more seldom
	// (pkg/util/goroutinemap/exponentialbackoff).
	volumeRetryLeast = 500 * time.Millisecond
	volumeRetryMost  = 2*time.Minute + 2*time.Second
)

// NewAttachDetach starts the controller.
func NewAttachDetach(env *component.Env) *AttachDetach {
	a := &AttachDetach{env: env, volumes: map[string]*volume{}, held: map[string][]*volume{}}
	env.API.WatchPods(a.podChanged)
	env.API.WatchNodes(a.nodeChanged)
	env.Cloud.Watch(func(c cloud.Change, i *cloud.Instance) {
		if c == cloud.Started || c == cloud.Ailing {
			a.wakeHeld(i.Name)
		}
	})
	return a
}

// Name has named asked for the name of the volume of a pod's claim, and for what nodes list it as: "" where it has no
// object.
func (a *AttachDetach) Name(named func(p *kube.Pod) (name, handle string)) { a.named = named }

// Volume returns the names of the volume of a pod's claim.
func (a *AttachDetach) Volume(p *kube.Pod) (name, handle string) {
	v := a.volume(p)
	return v.name, v.handle
}

func (a *AttachDetach) podChanged(c kube.Change, old, p *kube.Pod) {
	if p.Claim == "" {
		return
	}
	switch {
	case c == kube.Deleted || p.Terminal() && old != nil && !old.Terminal():
		a.soon(a.volume(p))
	case p.NodeName != "" && !p.Terminal() && (c == kube.Added || old.NodeName == ""):
		v := a.volume(p)
		v.users = append(v.users, p)
		if i := a.env.Cloud.ByNode(p.NodeName); c == kube.Added && p.Phase == "Running" && i != nil {
			// It was there before the tape began.
			if a.env.Cloud.Volumes.Attach(v.key, i.ID) {
				a.hold(v, i)
			}
			return
		}
		a.soon(v)
	}
}

// nodeChanged wakes the volumes of a node whose health has changed, and writes
// them into one that has come back under the name of its instance.
func (a *AttachDetach) nodeChanged(c kube.Change, old, n *kube.Node) {
	held := a.held[n.Name]
	if len(held) == 0 {
		return
	}
	if c == kube.Modified && old.Ready() == n.Ready() && old.HasTaint(outOfServiceTaint, "") == n.HasTaint(outOfServiceTaint, "") {
		return
	}
	a.wakeHeld(n.Name)
	if c == kube.Added {
		a.env.After(0, func() {
			for _, v := range slices.Clone(a.held[n.Name]) {
				a.list(v, true)
			}
		})
	}
}

func (a *AttachDetach) wakeHeld(node string) {
	for _, v := range a.held[node] {
		if v.unused != 0 {
			a.soon(v)
		}
	}
}

func (a *AttachDetach) soon(v *volume) {
	a.env.After(a.env.Draw(&v.chance, a.env.Timings.ControllerReact), func() { a.reconcile(v) })
}

// at has a volume looked at again after a while. The earliest time counts.
func (a *AttachDetach) at(v *volume, after time.Duration) {
	when := a.env.API.Now().Add(after)
	if v.wake.Pending() && v.waking <= when {
		return
	}
	v.wake.Stop()
	v.waking = when
	v.wake = a.env.Timer(after, func() { a.reconcile(v) })
}

func (a *AttachDetach) volume(p *kube.Pod) *volume {
	key := component.VolumeKey(p)
	v := a.volumes[key]
	if v == nil {
		v = &volume{key: key, chance: a.env.Stream("volume", key)}
		v.name = "pvc-" + v.chance.UUID()
		v.handle = "kubernetes.io/csi/ebs.csi.aws.com^vol-0" + v.chance.Hex(16)
		if a.named != nil {
			if name, handle := a.named(p); name != "" {
				v.name, v.handle = name, handle
			}
		}
		a.volumes[key] = v
	}
	return v
}

// hold records the machine that has the volume; nil is none.
func (a *AttachDetach) hold(v *volume, i *cloud.Instance) {
	if v.holder != nil {
		name := v.holder.Name
		if a.held[name] = slices.DeleteFunc(a.held[name], func(w *volume) bool { return w == v }); len(a.held[name]) == 0 {
			delete(a.held, name)
		}
	}
	v.holder, v.unused, v.retries = i, 0, 0
	if i != nil {
		a.held[i.Name] = append(a.held[i.Name], v)
	}
}

// list writes or strikes the volume in its holder's status.volumesAttached.
func (a *AttachDetach) list(v *volume, attached bool) {
	if v.holder == nil {
		return
	}
	n := a.env.API.Node(v.holder.Name)
	if n == nil {
		return
	}
	mine := func(x kube.Attached) bool { return x.Name == v.handle }
	a.env.API.UpdateNode(n, func(n *kube.Node) {
		switch has := slices.ContainsFunc(n.Attached, mine); {
		case attached && !has:
			n.Attached = append(slices.Clip(n.Attached), kube.Attached{Name: v.handle})
		case !attached && has:
			n.Attached = slices.DeleteFunc(slices.Clone(n.Attached), mine)
		}
	})
}

// reconcile takes the next step of a volume.
func (a *AttachDetach) reconcile(v *volume) {
	if v.moving {
		return
	}
	v.users = slices.DeleteFunc(v.users, func(p *kube.Pod) bool { return p.Gone() || p.Terminal() })
	v.reported = slices.DeleteFunc(v.reported, func(node string) bool { return len(v.on(node)) == 0 })
	if v.holder == nil {
		if len(v.users) == 0 {
			delete(a.volumes, v.key) // its stream would make the same one again
			return
		}
		a.attach(v, a.first(v))
		return
	}
	for _, p := range v.users {
		if p.NodeName != v.holder.Name {
			a.refuse(v, p.NodeName)
		}
	}
	switch {
	case len(v.on(v.holder.Name)) > 0:
		v.unused = 0
	case v.unused == 0:
		v.unused = a.env.API.Now()
		fallthrough
	default:
		a.release(v)
	}
}

// first is the node of the first pod that is there with its machine: the real controller forgets nodes that are gone.
func (a *AttachDetach) first(v *volume) string {
	for _, p := range v.users {
		if a.env.Cloud.ByNode(p.NodeName) != nil && a.env.API.Node(p.NodeName) != nil {
			return p.NodeName
		}
	}
	return v.users[0].NodeName
}

// on returns the pods on a node that need the volume.
func (v *volume) on(node string) []*kube.Pod {
	var some []*kube.Pod
	for _, p := range v.users {
		if p.NodeName == node {
			some = append(some, p)
		}
	}
	return some
}

func (a *AttachDetach) attach(v *volume, node string) {
	i := a.env.Cloud.ByNode(node)
	if i == nil || a.env.API.Node(node) == nil {
		return // the pod's end comes next
	}
	v.moving = true
	a.env.After(a.env.Draw(&v.chance, a.env.Timings.VolumeAttach), func() {
		v.moving = false
		if i.State == cloud.Terminated || !a.env.Cloud.Volumes.Attach(v.key, i.ID) {
			a.retry(v)
			return
		}
		a.hold(v, i)
		for _, p := range v.on(node) {
			if !p.Gone() {
				a.env.API.Record(attachDetach, kube.AboutPod(p), "Normal", "SuccessfulAttachVolume",
					`AttachVolume.Attach succeeded for volume "`+v.name+`" `)
			}
		}
		a.list(v, true)
		a.reconcile(v)
	})
}

// retry looks at a volume again, ever later.
func (a *AttachDetach) retry(v *volume) {
	a.at(v, min(volumeRetryLeast<<min(v.retries, 8), volumeRetryMost))
	v.retries++
}

// refuse is reportMultiAttachError: once it tells the pods of a node that
// another node has the volume.
func (a *AttachDetach) refuse(v *volume, node string) {
	if slices.Contains(v.reported, node) {
		return
	}
	v.reported = append(v.reported, node)
	why := "Volume is already exclusively attached to one node and can't be attached to another"
	for i, p := range v.on(v.holder.Name) {
		if i == 0 {
			why = "Volume is already used by pod(s) " + p.Name
		} else {
			why += ", " + p.Name
		}
	}
	for _, p := range v.on(node) {
		a.env.API.Record(attachDetach, kube.AboutPod(p), "Warning", "FailedAttachVolume",
			`Multi-Attach error for volume "`+v.name+`" `+why)
	}
}

// release detaches a volume that its holder doesn't need: soon where the machine
// has unmounted it, or the node is out of service, and by force where the node
// has been unhealthy and the volume unused for six minutes.
func (a *AttachDetach) release(v *volume) {
	i, n := v.holder, a.env.API.Node(v.holder.Name)
	force := n != nil && n.HasTaint(outOfServiceTaint, "")
	if i.Ailments.Silent() && !force {
		left := a.env.Timings.VolumeForceDetach.Median() - a.env.API.Now().Sub(v.unused)
		if left > 0 {
			a.at(v, left)
			return
		}
		if n != nil && n.Ready() {
			return // the node's next change comes back here
		}
		force = true
	}
	a.list(v, false)
	v.moving = true
	a.env.After(a.env.Draw(&v.chance, a.env.Timings.VolumeDetach), func() {
		v.moving = false
		if !a.env.Cloud.Volumes.Detach(v.key, force) {
			a.list(v, true)
			a.retry(v)
			return
		}
		a.hold(v, nil)
		a.reconcile(v)
	})
}
