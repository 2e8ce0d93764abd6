package scenarios

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// disk makes the volume of a claim whose class is the provider's.
func (a *Acting) disk(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, zone string) *corev1.PersistentVolume {
	s := a.sim
	if class.Provisioner != s.driver() {
		return nil
	}
	if zone == "" {
		zone = s.file.Cluster.Zones[0]
	}
	chance := s.env.Stream("volume", string(claim.UID))
	pv := s.disk(claim, class.Name, zone, &chance)
	complete(pv)
	if class.ReclaimPolicy != nil {
		pv.Spec.PersistentVolumeReclaimPolicy = *class.ReclaimPolicy
	}
	return pv
}

// complete fills in what the API server does.
func complete(pv *corev1.PersistentVolume) {
	pv.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}
	pv.Finalizers = []string{"kubernetes.io/pv-protection"}
	pv.Status.Phase = corev1.VolumePending
	if pv.Spec.VolumeMode == nil {
		mode := corev1.PersistentVolumeFilesystem
		pv.Spec.VolumeMode = &mode
	}
}

// volumeOf returns the name of the volume of a pod's claim, and what nodes list it as; "" where there is no claim.
func (a *Acting) volumeOf(p *kube.Pod) (name, handle string) {
	claim := a.objects.Get("persistentvolumeclaims", p.Namespace, p.Claim)
	if claim == nil {
		return "", ""
	}
	zone := ""
	if i := a.sim.env.Cloud.ByNode(p.NodeName); i != nil {
		zone = i.Zone
	}
	chance := a.sim.env.Stream("volume", claim.UID)
	name = "pvc-" + claim.UID
	return name, "kubernetes.io/csi/" + a.sim.driver() + "^" + a.sim.handle(name, zone, &chance)
}

// seedVolumes puts the provider's StorageClass there, which claims have by default, and the claims of the pods that
// run, bound to their volumes.
func (a *Acting) seedVolumes() {
	s := a.sim
	class := s.storageClass()
	class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	chance := s.env.Stream("storageclass")
	a.objects.Seed("storageclasses", class, metav1.NewTime(s.file.Start.Add(-clusterAge).Truncate(time.Second)), &chance)
	for _, p := range s.env.API.Pods() {
		if w := a.volumed(p); w != nil {
			a.seedClaim(p, w)
		}
	}
}

// volumed is the scenario's workload of a pod that has a claim, or nil.
func (a *Acting) volumed(p *kube.Pod) *spec.Workload {
	if p.Claim == "" {
		return nil
	}
	if w := a.sim.workloadOfPod(p.Namespace, p.Labels.Lookup); w != nil && w.Volume != nil && (p.Owner != nil || w.Kind == spec.KindPod) {
		return w
	}
	return nil
}

// ofFile is a workload of the scenario, or nil.
func (a *Acting) ofFile(namespace, name string) *spec.Workload {
	for i := range a.sim.file.Workloads {
		if w := &a.sim.file.Workloads[i]; w.Namespace == namespace && w.Name == name {
			return w
		}
	}
	return nil
}

// claim is that of a pod of the scenario: a StatefulSet's stays, others go with their pods.
func (a *Acting) claim(p *kube.Pod, w *spec.Workload) *corev1.PersistentVolumeClaim {
	mode, yes := corev1.PersistentVolumeFilesystem, true
	c := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Claim, Finalizers: []string{"kubernetes.io/pvc-protection"}},
		Spec:       claimSpec(*w.Volume), Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	c.Spec.VolumeMode = &mode
	if w.Kind == spec.KindStatefulSet {
		c.Labels = w.Labels()
	} else {
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: types.UID(p.UID), Controller: &yes, BlockOwnerDeletion: &yes}}
	}
	return c
}

// seedClaim adds a pod's claim, and its volume where the pod is bound.
func (a *Acting) seedClaim(p *kube.Pod, w *spec.Workload) {
	s := a.sim
	created := metav1.NewTime(p.Created.Second().Time())
	chance := s.env.Stream("claim", p.Namespace, p.Claim)
	c := a.claim(p, w)
	i := s.env.Cloud.ByNode(p.NodeName)
	if i == nil {
		a.objects.Seed("persistentvolumeclaims", c, created, &chance)
		return
	}
	uid, handle := chance.UUID(), ""
	if a.attach != nil {
		uid, handle = a.attach.Volume(p)
		uid = strings.TrimPrefix(uid, "pvc-")
	}
	c.UID = types.UID(uid)
	pv := s.disk(c, storageClass, i.Zone, &chance)
	complete(pv)
	if at := strings.LastIndexByte(handle, '^'); at >= 0 {
		pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle = strings.TrimPrefix(handle[:at], "kubernetes.io/csi/"), handle[at+1:]
	}
	pv.Status.Phase, pv.Status.LastPhaseTransitionTime = corev1.VolumeBound, &created
	c.Spec.VolumeName = pv.Name
	c.Annotations = map[string]string{kube.BindCompleted: "yes", kube.BoundByController: "yes", kube.Provisioner: s.driver(), kube.BetaProvisioner: s.driver(), kube.SelectedNode: p.NodeName}
	c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: slices.Clone(pv.Spec.AccessModes), Capacity: pv.Spec.Capacity}
	a.objects.Hold("persistentvolumeclaims", c, created)
	a.objects.Seed("persistentvolumes", pv, created, &chance)
}
