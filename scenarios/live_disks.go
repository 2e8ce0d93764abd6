package scenarios

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Disks are the writes of an [APIServer] for volumes. Nothing of it is asked for where the scenario has none.
type Disks interface {
	// CreateVolume creates a PersistentVolume for the claim that it names. One that
	// is there is the same.
	CreateVolume(pv *corev1.PersistentVolume)
	// DeleteVolume deletes the PersistentVolume of a claim that is gone.
	DeleteVolume(name string, uid types.UID)
	// WriteAttachment writes the CSI driver's attacher's change of a VolumeAttachment's finalizers and status.
	WriteAttachment(old, new *storagev1.VolumeAttachment)
	// PostDrivers is a kubelet's CSINode, whose owner is the Node of its name.
	PostDrivers(csi *storagev1.CSINode)
}

// disks are the sidecars of the provider's CSI driver in a live run: the external-provisioner, which makes the
// volumes of claims, and the external-attacher, which serves VolumeAttachments. Those are the attach-detach
// controller's of the real control plane, claims are bound by its scheduler and its PersistentVolume controller. A
// nil disks has no volumes.
type disks struct {
	p      *LiveSimulation
	driver string

	byName  map[string]*disk   // by the PersistentVolume
	byClaim map[string]*disk   // by namespace/claim
	asked   map[types.UID]bool // claims whose volume is being made

	attachments map[string]*attachment
	waiting     map[types.UID]*corev1.Pod // before Begin: pods whose volume isn't attached yet
}

// disk is a PersistentVolume of the driver.
type disk struct {
	name, handle, claim string
	uid                 types.UID
	released            bool
}

// listed returns the nodes' name of the volume (pkg/volume/csi/csi_plugin.go, GetVolumeName).
func (d *disks) listed(v *disk) string { return "kubernetes.io/csi/" + d.driver + "^" + v.handle }

func newDisks(p *LiveSimulation) *disks {
	hasVolume := func(w spec.Workload) bool { return w.Volume != nil }
	if !slices.ContainsFunc(p.sim.file.Workloads, hasVolume) {
		return nil
	}
	return &disks{
		p: p, driver: p.sim.driver(),
		byName: map[string]*disk{}, byClaim: map[string]*disk{}, asked: map[types.UID]bool{},
		attachments: map[string]*attachment{}, waiting: map[types.UID]*corev1.Pod{},
	}
}

// of returns the nodes' name of the volume of a pod's claim, or "".
func (d *disks) of(pod *kube.Pod) string {
	if v := d.byClaim[component.VolumeKey(pod)]; v != nil {
		return d.listed(v)
	}
	return ""
}

// claimOf returns the namespace and name of the claim of a volume, "" where nothing is known of it.
func (d *disks) claimOf(volume string) string {
	if v := d.byName[volume]; v != nil {
		return v.claim
	}
	return ""
}

// after does something when a time of the scenario has passed: before Begin, at once.
func (d *disks) after(takes time.Duration, do func()) {
	if !d.p.begun {
		do()
		return
	}
	d.p.sim.env.After(takes, do)
}

// hold reports whether a pod that is to run at once has to wait for its volume: then
// its kubelet is told when its Node lists that, or when the scenario begins.
func (d *disks) hold(pod *kube.Pod, in *corev1.Pod) bool {
	if d == nil {
		return false
	}
	delete(d.waiting, in.UID)
	if d.p.begun || pod.Phase != string(corev1.PodPending) || pod.Terminating() || in.DeletionTimestamp != nil || d.p.sim.kubelets.Attached(in.Spec.NodeName, pod) {
		return false
	}
	d.waiting[in.UID] = in
	return true
}

// look tells kubelets of pods that needn't wait any longer.
func (d *disks) look() {
	if d == nil {
		return
	}
	for _, uid := range slices.Sorted(maps.Keys(d.waiting)) {
		in := d.waiting[uid]
		if pod := d.p.sim.env.API.Pod(in.Namespace, in.Name); pod == nil || pod.UID != string(uid) {
			delete(d.waiting, uid)
			continue
		}
		d.p.PodGiven(in)
	}
}

// begin resumes the work that has waited for the scenario's beginning.
func (d *disks) begin() {
	if d == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.attachments)) {
		d.step(d.attachments[name])
	}
	d.look()
}

// ClaimSeen tells what a watch of PersistentVolumeClaims says. It is needed where
// the scenario's Objects have a StorageClass.
func (p *LiveSimulation) ClaimSeen(t watch.EventType, in *corev1.PersistentVolumeClaim) {
	p.wait()
	d := p.disks
	if d == nil || in.Spec.StorageClassName == nil || *in.Spec.StorageClassName != storageClass {
		return
	}
	if t == watch.Deleted {
		delete(d.asked, in.UID)
		return
	}
	node := in.Annotations[kube.SelectedNode]
	i := p.sim.env.Cloud.ByNode(node)
	if in.Spec.VolumeName != "" || in.DeletionTimestamp != nil || in.Annotations[kube.Provisioner] != d.driver || i == nil || d.asked[in.UID] {
		return
	}
	d.asked[in.UID] = true
	chance := p.sim.env.Stream("volume", string(in.UID))
	pv := d.p.sim.disk(in, storageClass, i.Zone, &chance)
	d.after(p.sim.env.Draw(&chance, p.sim.env.Timings.ControllerReact), func() { p.apiServer.CreateVolume(pv) })
}

// VolumeSeen tells what a watch of PersistentVolumes says, as ClaimSeen.
func (p *LiveSimulation) VolumeSeen(t watch.EventType, in *corev1.PersistentVolume) {
	p.wait()
	d := p.disks
	if d == nil || in.Spec.CSI == nil || in.Spec.CSI.Driver != d.driver || in.Spec.StorageClassName != storageClass || in.Spec.ClaimRef == nil {
		return
	}
	v := &disk{name: in.Name, handle: in.Spec.CSI.VolumeHandle, claim: in.Spec.ClaimRef.Namespace + "/" + in.Spec.ClaimRef.Name, uid: in.UID}
	if t == watch.Deleted {
		delete(d.byName, v.name)
		if was := d.byClaim[v.claim]; was != nil && was.name == v.name {
			delete(d.byClaim, v.claim)
		}
		return
	}
	v.released = in.Status.Phase == corev1.VolumeReleased && in.DeletionTimestamp == nil &&
		in.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
	d.byName[v.name] = v
	if !v.released {
		d.byClaim[v.claim] = v
	}
	for _, a := range d.attachments {
		if volumeOf(a.seen) == v.name {
			d.step(a)
		}
	}
	d.reclaim(v)
	d.look()
}

// reclaim deletes a volume that no claim and no node has any more.
func (d *disks) reclaim(v *disk) {
	if v == nil || !v.released {
		return
	}
	for _, a := range d.attachments {
		if volumeOf(a.seen) == v.name {
			return // its end comes back here
		}
	}
	d.p.apiServer.DeleteVolume(v.name, v.uid)
}
