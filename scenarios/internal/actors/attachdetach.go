package actors

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/model"
)

// AttachDetach is the attach-detach controller of kube-controller-manager
// (pkg/controller/volume/attachdetach): it attaches the volume of a bound pod's
// claim to the pod's instance, and detaches it when no pod there needs it any
// more. A volume is attached to one instance at most, so that a pod that moved
// waits for the old node to let go; one whose node can't say so is taken from it
// by force after six minutes.
type AttachDetach struct {
	env     *Env
	volumes map[string]*volume
}

// volume is what the controller knows of a claim's volume.
type volume struct {
	key     string // namespace/claim, which is what the provider calls it here
	name    string // of the PersistentVolume
	handle  string // as nodes list it
	chance  model.Stream
	users   []*api.Pod // bound pods that need it
	holder  *cloud.Instance
	moving  bool // an attachment or detachment is on its way
	told    *api.Pod
	retries int
}

var attachDetach = api.Source{Component: "attachdetach-controller"}

// VolumeKey is the name of the volume of a pod's claim at the provider.
func VolumeKey(p *api.Pod) string { return p.Namespace + "/" + p.Claim }

// NewAttachDetach starts the controller.
func NewAttachDetach(env *Env) *AttachDetach {
	a := &AttachDetach{env: env, volumes: map[string]*volume{}}
	env.API.WatchPods(a.podChanged)
	env.API.WatchNodes(func(c api.Change, _, n *api.Node) {
		if c == api.Deleted {
			env.After(0, func() { a.look() })
		}
	})
	return a
}

func (a *AttachDetach) podChanged(c api.Change, old, p *api.Pod) {
	if p.Claim == "" {
		return
	}
	switch {
	case c == api.Deleted || p.Terminal() && old != nil && !old.Terminal():
		v := a.volume(p)
		v.users = slices.DeleteFunc(slices.Clone(v.users), func(u *api.Pod) bool { return u == p })
		a.env.After(a.env.Draw(&v.chance, a.env.Timings.ControllerReact), func() { a.reconcile(v) })
	case p.NodeName != "" && !p.Terminal() && (c == api.Added || old.NodeName == ""):
		v := a.volume(p)
		v.users = append(v.users, p)
		if c == api.Added && p.Phase == "Running" { // it was there before the tape began
			a.env.Cloud.Volumes.Attach(v.key, a.instance(p))
			v.holder = a.env.Cloud.ByNode(p.NodeName)
			return
		}
		a.env.After(a.env.Draw(&v.chance, a.env.Timings.ControllerReact), func() { a.reconcile(v) })
	}
}

func (a *AttachDetach) instance(p *api.Pod) string {
	if i := a.env.Cloud.ByNode(p.NodeName); i != nil {
		return i.ID
	}
	return ""
}

func (a *AttachDetach) volume(p *api.Pod) *volume {
	key := VolumeKey(p)
	v := a.volumes[key]
	if v == nil {
		v = &volume{key: key, chance: a.env.Stream("volume", key)}
		v.name = "pvc-" + v.chance.UUID()
		v.handle = "kubernetes.io/csi/ebs.csi.aws.com^vol-0" + v.chance.Hex(16)
		a.volumes[key] = v
	}
	return v
}

// look goes over all volumes whose holder may have changed.
func (a *AttachDetach) look() {
	keys := make([]string, 0, len(a.volumes))
	for key, v := range a.volumes {
		if v.holder != nil && a.env.API.Node(v.holder.Name) == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		a.reconcile(a.volumes[key])
	}
}

// reconcile takes the next step of a volume.
func (a *AttachDetach) reconcile(v *volume) {
	if v.moving {
		return
	}
	v.users = slices.DeleteFunc(slices.Clone(v.users), func(p *api.Pod) bool { return p.Gone() || p.Terminal() })
	var wants *api.Pod
	used := false
	for _, p := range v.users {
		if v.holder != nil && p.NodeName == v.holder.Name {
			used = true
		} else if wants == nil {
			wants = p
		}
	}
	switch {
	case v.holder == nil && wants != nil:
		a.attach(v, wants)
	case v.holder != nil && !used:
		if wants != nil {
			a.refuse(v, wants)
		}
		a.detach(v)
	case v.holder != nil && wants != nil:
		a.refuse(v, wants)
	}
}

func (a *AttachDetach) attach(v *volume, p *api.Pod) {
	i := a.env.Cloud.ByNode(p.NodeName)
	if i == nil {
		return
	}
	v.moving = true
	a.env.After(a.env.Draw(&v.chance, a.env.Timings.VolumeAttach), func() {
		v.moving = false
		if p.Gone() || !a.env.Cloud.Volumes.Attach(v.key, i.ID) {
			a.reconcile(v)
			return
		}
		v.holder, v.told, v.retries = i, nil, 0
		a.env.API.Record(attachDetach, api.AboutPod(p), "Normal", "SuccessfulAttachVolume",
			`AttachVolume.Attach succeeded for volume "`+v.name+`" `)
		if n := a.env.API.Node(i.Name); n != nil {
			a.env.API.UpdateNode(n, func(n *api.Node) {
				n.Attached = append(slices.Clip(n.Attached), api.Attached{Name: v.handle})
			})
		}
		a.reconcile(v)
	})
}

// refuse reports once that another node has the volume.
func (a *AttachDetach) refuse(v *volume, p *api.Pod) {
	if v.told == p {
		return
	}
	v.told = p
	why := "Volume is already exclusively attached to one node and can't be attached to another"
	for _, u := range v.users {
		if u != p && v.holder != nil && u.NodeName == v.holder.Name {
			why = "Volume is already used by pod(s) " + u.Name
			break
		}
	}
	a.env.API.Record(attachDetach, api.AboutPod(p), "Warning", "FailedAttachVolume",
		`Multi-Attach error for volume "`+v.name+`" `+why)
}

// detach lets go of the volume: soon where its node's kubelet has unmounted it,
// by force where nobody can say so.
func (a *AttachDetach) detach(v *volume) {
	i := v.holder
	after := a.env.Draw(&v.chance, a.env.Timings.VolumeDetach)
	force := i.Ailments.Silent() || a.env.API.Node(i.Name) == nil
	if force {
		after = a.env.Timings.VolumeForceDetach.Median()
	}
	v.moving = true
	a.env.After(after, func() {
		v.moving = false
		if v.holder != i || slices.ContainsFunc(v.users, func(p *api.Pod) bool { return !p.Gone() && p.NodeName == i.Name }) {
			a.reconcile(v)
			return
		}
		if !a.env.Cloud.Volumes.Detach(v.key, force) {
			// The provider's call fails, and is repeated ever more seldom.
			v.retries++
			v.moving = true
			a.env.After(min(time.Second<<min(v.retries, 7), 2*time.Minute), func() { v.moving = false; a.reconcile(v) })
			return
		}
		v.holder = nil
		if n := a.env.API.Node(i.Name); n != nil {
			a.env.API.UpdateNode(n, func(n *api.Node) {
				n.Attached = slices.DeleteFunc(slices.Clone(n.Attached), func(x api.Attached) bool { return x.Name == v.handle })
			})
		}
		a.reconcile(v)
	})
}
