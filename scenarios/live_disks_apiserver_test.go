package scenarios_test

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// fakeVolumes is what the plainest control plane has of volumes: claims are bound when
// their volume comes, and the attach-detach controller does its work at once.
type fakeVolumes struct {
	claims      map[string]*corev1.PersistentVolumeClaim // by namespace/name
	volumes     map[string]*corev1.PersistentVolume
	attachments map[string]*storagev1.VolumeAttachment
	drivers     map[string]*storagev1.CSINode
}

func newShelf() fakeVolumes {
	return fakeVolumes{
		claims: map[string]*corev1.PersistentVolumeClaim{}, volumes: map[string]*corev1.PersistentVolume{},
		attachments: map[string]*storagev1.VolumeAttachment{}, drivers: map[string]*storagev1.CSINode{},
	}
}

func (w *fakeControlPlane) claimNews(t watch.EventType, c *corev1.PersistentVolumeClaim) {
	w.stamp(&c.ObjectMeta)
	is := c.DeepCopy()
	w.news = append(w.news, func() { w.p.ClaimSeen(t, is) })
}

func (w *fakeControlPlane) volumeNews(t watch.EventType, v *corev1.PersistentVolume) {
	w.stamp(&v.ObjectMeta)
	is := v.DeepCopy()
	w.news = append(w.news, func() { w.p.VolumeSeen(t, is) })
}

func (w *fakeControlPlane) attachmentNews(t watch.EventType, a *storagev1.VolumeAttachment) {
	w.stamp(&a.ObjectMeta)
	is := a.DeepCopy()
	w.news = append(w.news, func() { w.p.AttachmentSeen(t, is) })
}

// claim has a pod's claim made, and returns it; nil where it has none.
func (w *fakeControlPlane) claim(pod *corev1.Pod) *corev1.PersistentVolumeClaim {
	for _, v := range pod.Spec.Volumes {
		var name string
		var spec corev1.PersistentVolumeClaimSpec
		switch {
		case v.PersistentVolumeClaim != nil:
			name, spec = v.PersistentVolumeClaim.ClaimName, w.owners["StatefulSet/"+pod.Namespace+"/"+pod.OwnerReferences[0].Name].claims[0].Spec
		case v.Ephemeral != nil:
			name, spec = pod.Name+"-"+v.Name, v.Ephemeral.VolumeClaimTemplate.Spec
		default:
			continue
		}
		key := pod.Namespace + "/" + name
		if w.shelf.claims[key] == nil {
			c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name}, Spec: spec}
			c.Annotations = map[string]string{"volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com"}
			w.shelf.claims[key] = c
			w.claimNews(watch.Added, c)
		}
		return w.shelf.claims[key]
	}
	return nil
}

// unclaim is the end of a claim that was its pod's own.
func (w *fakeControlPlane) unclaim(pod *corev1.Pod) {
	for _, v := range pod.Spec.Volumes {
		key := pod.Namespace + "/" + pod.Name + "-" + v.Name
		c := w.shelf.claims[key]
		if v.Ephemeral == nil || c == nil {
			continue
		}
		delete(w.shelf.claims, key)
		w.claimNews(watch.Deleted, c)
		if pv := w.shelf.volumes[c.Spec.VolumeName]; pv != nil {
			pv.Status.Phase = corev1.VolumeReleased
			w.volumeNews(watch.Modified, pv)
		}
	}
}

// suits reports whether a pod's volume can be had on a node.
func (w *fakeControlPlane) suits(c *corev1.PersistentVolumeClaim, n *corev1.Node) bool {
	if c == nil || c.Spec.VolumeName == "" {
		return true
	}
	zones := w.shelf.volumes[c.Spec.VolumeName].Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]
	return slices.Contains(zones.Values, n.Labels[zones.Key])
}

// waits has a volume made where a pod is to run, and reports whether it isn't there yet.
func (w *fakeControlPlane) waits(c *corev1.PersistentVolumeClaim, node string) bool {
	if c == nil || c.Spec.VolumeName != "" {
		return false
	}
	const selected = "volume.kubernetes.io/selected-node"
	if c.Annotations[selected] == "" {
		c.Annotations[selected] = node
		w.claimNews(watch.Modified, c)
	}
	return true
}

// attachDetach is the attach-detach controller.
func (w *fakeControlPlane) attachDetach() {
	needed := map[string]string{} // the node of a volume's pod
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		pod := w.pods[name]
		over := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		if pod.Spec.NodeName == "" || over || w.nodes[pod.Spec.NodeName] == nil {
			continue
		}
		if c := w.claim(pod); c != nil && c.Spec.VolumeName != "" {
			needed[c.Spec.VolumeName] = pod.Spec.NodeName
		}
	}
	has := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(w.shelf.attachments)) {
		a := w.shelf.attachments[name]
		pv := *a.Spec.Source.PersistentVolumeName
		// One whose detachment has failed is uncertain, and no reason to wait (GenerateDetachVolumeFunc of
		// pkg/volume/util/operationexecutor).
		has[pv] = has[pv] || needed[pv] == a.Spec.NodeName || a.Status.DetachError == nil
		if needed[pv] != a.Spec.NodeName && a.DeletionTimestamp == nil && !w.mounted(a) {
			w.list(a, false)
			now := metav1.NewTime(w.now())
			a.DeletionTimestamp = &now
			w.attachmentNews(watch.Modified, a)
			w.let(a)
		}
	}
	for _, pv := range slices.Sorted(maps.Keys(needed)) {
		if !has[pv] {
			a := &storagev1.VolumeAttachment{Spec: storagev1.VolumeAttachmentSpec{Attacher: "ebs.csi.aws.com", NodeName: needed[pv]}}
			a.Name, a.Spec.Source.PersistentVolumeName = "csi-"+pv+"-"+needed[pv], &pv
			w.shelf.attachments[a.Name] = a
			w.attachmentNews(watch.Added, a)
		}
	}
}

func (w *fakeControlPlane) listed(a *storagev1.VolumeAttachment) corev1.UniqueVolumeName {
	return corev1.UniqueVolumeName("kubernetes.io/csi/ebs.csi.aws.com^" + w.shelf.volumes[*a.Spec.Source.PersistentVolumeName].Spec.CSI.VolumeHandle)
}

// mounted reports whether a node has the volume in use, and isn't dead for six
// minutes of the scenario.
func (w *fakeControlPlane) mounted(a *storagev1.VolumeAttachment) bool {
	n := w.nodes[a.Spec.NodeName]
	if n == nil || !slices.Contains(n.Status.VolumesInUse, w.listed(a)) {
		return false
	}
	since := w.quiet[n.Name]
	return since.IsZero() || w.now().Sub(since) < 36*time.Second
}

// list writes or strikes a volume in its node's status.
func (w *fakeControlPlane) list(a *storagev1.VolumeAttachment, attached bool) {
	n := w.nodes[a.Spec.NodeName]
	if n == nil {
		return
	}
	name := w.listed(a)
	all := slices.DeleteFunc(slices.Clone(n.Status.VolumesAttached), func(v corev1.AttachedVolume) bool { return v.Name == name })
	if attached {
		all = append(all, corev1.AttachedVolume{Name: name})
	}
	n.Status.VolumesAttached = all
	w.nodeNews(watch.Modified, n)
}

// let removes an attachment that nobody holds.
func (w *fakeControlPlane) let(a *storagev1.VolumeAttachment) {
	if a.DeletionTimestamp != nil && len(a.Finalizers) == 0 {
		w.say("detached %s", a.Name)
		delete(w.shelf.attachments, a.Name)
		w.attachmentNews(watch.Deleted, a)
	}
}

func (w *fakeControlPlane) CreateVolume(pv *corev1.PersistentVolume) {
	w.say("provision %s", pv.Spec.ClaimRef.Name)
	is := pv.DeepCopy()
	is.Status.Phase = corev1.VolumeBound
	w.shelf.volumes[is.Name] = is
	w.volumeNews(watch.Added, is)
	if c := w.shelf.claims[is.Spec.ClaimRef.Namespace+"/"+is.Spec.ClaimRef.Name]; c != nil {
		c.Spec.VolumeName = is.Name
		w.claimNews(watch.Modified, c)
	}
}

func (w *fakeControlPlane) DeleteVolume(name string, uid types.UID) {
	if pv := w.shelf.volumes[name]; pv != nil && pv.UID == uid {
		w.say("delete volume of %s", pv.Spec.ClaimRef.Name)
		delete(w.shelf.volumes, name)
		w.volumeNews(watch.Deleted, pv)
	}
}

func (w *fakeControlPlane) WriteAttachment(_, is *storagev1.VolumeAttachment) {
	a := w.shelf.attachments[is.Name]
	if a == nil || a.UID != is.UID {
		return
	}
	came := is.Status.Attached && !a.Status.Attached
	a.Finalizers, a.Status = slices.Clone(is.Finalizers), is.Status
	if e := a.Status.DetachError; e != nil {
		of := ""
		if pv := w.shelf.volumes[*a.Spec.Source.PersistentVolumeName]; pv != nil {
			of = pv.Spec.ClaimRef.Name
		}
		w.say("not detached %s of %s: %s", a.Name, of, e.Message)
	}
	if e := a.Status.AttachError; e != nil {
		w.say("not attached %s: %s", a.Name, e.Message)
	}
	for _, other := range w.shelf.attachments {
		if came && other != a && other.Status.Attached && *other.Spec.Source.PersistentVolumeName == *a.Spec.Source.PersistentVolumeName {
			w.say("twice %s", a.Name)
		}
	}
	w.attachmentNews(watch.Modified, a)
	if came {
		w.say("attached %s", a.Name)
		w.list(a, true)
	}
	w.let(a)
}

func (w *fakeControlPlane) PostDrivers(csi *storagev1.CSINode) {
	w.shelf.drivers[csi.Name] = csi.DeepCopy()
}

// mounts notes where a pod runs whose volume isn't listed by its node.
func (w *fakeControlPlane) mounts(pod *corev1.Pod) {
	running := slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.State.Running != nil })
	c, n := w.claim(pod), w.nodes[pod.Spec.NodeName]
	if !running || c == nil || n == nil || pod.DeletionTimestamp != nil {
		return
	}
	name := corev1.UniqueVolumeName("kubernetes.io/csi/ebs.csi.aws.com^" + w.shelf.volumes[c.Spec.VolumeName].Spec.CSI.VolumeHandle)
	if !slices.ContainsFunc(n.Status.VolumesAttached, func(v corev1.AttachedVolume) bool { return v.Name == name }) {
		w.say("unattached %s", pod.Name)
	}
}
