package scenarios

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// attachment is a VolumeAttachment as the attacher has it.
type attachment struct {
	seen     *storagev1.VolumeAttachment // as it was seen last
	chance   model.Stream
	on       string // the instance that has the volume by it, or ""
	moving   bool   // the provider attaches or detaches
	attached bool   // its status says so, or is being told
	detached bool   // its finalizer is gone, or is being taken away
	failures int
}

// The attacher tries again ever later (github.com/kubernetes-csi/external-attacher,
// cmd/csi-attacher: --retry-interval-start and --retry-interval-max).
const (
	attachRetryFirst = time.Second
	attachRetryMost  = 5 * time.Minute
)

// attachFinalizer keeps a VolumeAttachment until the volume is detached
// (external-attacher, pkg/controller/util.go, GetFinalizerName).
func (d *disks) attachFinalizer() string {
	return "external-attacher/" + strings.ReplaceAll(d.driver, ".", "-")
}

// volumeOf names the PersistentVolume of an attachment.
func volumeOf(in *storagev1.VolumeAttachment) string {
	if name := in.Spec.Source.PersistentVolumeName; name != nil {
		return *name
	}
	return ""
}

// AttachmentSeen takes an event of a watch of VolumeAttachments, as [LiveSimulation.ClaimSeen].
func (p *LiveSimulation) AttachmentSeen(t watch.EventType, in *storagev1.VolumeAttachment) {
	p.wait()
	d := p.disks
	if d == nil || in.Spec.Attacher != d.driver || volumeOf(in) == "" {
		return
	}
	a := d.attachments[in.Name]
	if a != nil && a.seen.UID != in.UID {
		if t == watch.Deleted {
			return
		}
		a = nil // another one of the name: the same volume and node
	}
	if t == watch.Deleted {
		delete(d.attachments, in.Name)
		v := d.byName[volumeOf(in)]
		if a != nil && !a.detached && v != nil && d.holds(a, v) {
			p.sim.env.Cloud.Volumes.Detach(v.name, true) // by another's hand
		}
		d.reclaim(v)
		return
	}
	if a == nil {
		a = &attachment{chance: p.sim.env.Stream("attachment", string(in.UID))}
		d.attachments[in.Name] = a
	}
	a.seen = in
	d.step(a)
}

// holds reports whether the provider has the volume where the attachment wants it.
func (d *disks) holds(a *attachment, v *disk) bool {
	return a.on != "" && d.p.sim.env.Cloud.Volumes.On(v.name) == a.on
}

// step has the provider do what an attachment asks for.
func (d *disks) step(a *attachment) {
	v := d.byName[volumeOf(a.seen)]
	if a.moving || v == nil {
		return
	}
	env, leaving := d.p.sim.env, a.seen.DeletionTimestamp != nil
	switch i := env.Cloud.ByNode(a.seen.Spec.NodeName); {
	case leaving && !a.detached && slices.Contains(a.seen.Finalizers, d.attachFinalizer()):
		a.moving = true
		d.after(env.Draw(&a.chance, env.Timings.VolumeDetach), func() { a.moving = false; d.detach(a, v) })
	case leaving, a.attached:
	case a.seen.Status.Attached:
		// By a process that came before this one.
		if i != nil && env.Cloud.Volumes.Attach(v.name, i.ID) {
			a.attached, a.on = true, i.ID
		}
	default:
		a.moving = true
		d.after(env.Draw(&a.chance, env.Timings.VolumeAttach), func() { a.moving = false; d.attach(a, v) })
	}
}

// current reports whether an attachment is still there.
func (d *disks) current(a *attachment) bool { return d.attachments[a.seen.Name] == a }

func (d *disks) attach(a *attachment, v *disk) {
	switch i := d.p.sim.env.Cloud.ByNode(a.seen.Spec.NodeName); {
	case !d.current(a):
		return
	case a.seen.DeletionTimestamp != nil:
		d.step(a)
		return
	case i == nil || !i.Alive():
		d.failed(a, func(s *storagev1.VolumeAttachmentStatus, e *storagev1.VolumeError) {
			e.Message, s.AttachError = "rpc error: code = NotFound desc = the instance of node "+a.seen.Spec.NodeName+" doesn't exist", e
		})
		return
	case !d.p.sim.env.Cloud.Volumes.Attach(v.name, i.ID):
		d.failed(a, func(s *storagev1.VolumeAttachmentStatus, e *storagev1.VolumeError) {
			e.Message, s.AttachError = "rpc error: code = FailedPrecondition desc = volume "+v.handle+" is attached to another instance", e
		})
		return
	}
	a.attached, a.on, a.failures = true, d.p.sim.env.Cloud.ByNode(a.seen.Spec.NodeName).ID, 0
	is := a.seen.DeepCopy()
	if name := d.attachFinalizer(); !slices.Contains(is.Finalizers, name) {
		is.Finalizers = append(is.Finalizers, name)
	}
	is.Status.Attached, is.Status.AttachError = true, nil
	d.p.apiServer.WriteAttachment(a.seen, is)
}

// detach takes a volume off its instance. One whose kubelet isn't heard, or whose node is out of service, is taken by
// force: no one else would ask for it.
func (d *disks) detach(a *attachment, v *disk) {
	if !d.current(a) {
		return
	}
	env, node := d.p.sim.env, a.seen.Spec.NodeName
	i, n := env.Cloud.ByNode(node), env.API.Node(node)
	force := i != nil && i.Ailments.Silent() || n != nil && n.HasTaint(corev1.TaintNodeOutOfService, "")
	if d.holds(a, v) && !env.Cloud.Volumes.Detach(v.name, force) {
		d.failed(a, func(s *storagev1.VolumeAttachmentStatus, e *storagev1.VolumeError) {
			e.Message, s.DetachError = "rpc error: code = DeadlineExceeded desc = volume "+v.handle+" is still detaching", e
		})
		return
	}
	a.detached = true
	is := a.seen.DeepCopy()
	is.Finalizers = slices.DeleteFunc(is.Finalizers, func(f string) bool { return f == d.attachFinalizer() })
	d.p.apiServer.WriteAttachment(a.seen, is)
}

// failed writes why the provider hasn't done it, and tries again later. Before
// Begin there is no later: then the next that is seen of it counts.
func (d *disks) failed(a *attachment, note func(*storagev1.VolumeAttachmentStatus, *storagev1.VolumeError)) {
	if !d.p.begun {
		return
	}
	is := a.seen.DeepCopy()
	note(&is.Status, &storagev1.VolumeError{Time: metav1.NewTime(d.p.cfg.Now().Truncate(time.Second))})
	d.p.apiServer.WriteAttachment(a.seen, is)
	a.moving = true
	d.after(min(attachRetryFirst<<min(a.failures, 9), attachRetryMost), func() {
		a.moving = false
		d.retry(a)
	})
	a.failures++
}

// retry takes the step that failed once more, without the delay of the first time.
func (d *disks) retry(a *attachment) {
	v := d.byName[volumeOf(a.seen)]
	switch {
	case v == nil || !d.current(a):
	case a.seen.DeletionTimestamp == nil:
		d.attach(a, v)
	case slices.Contains(a.seen.Finalizers, d.attachFinalizer()):
		d.detach(a, v)
	}
}
