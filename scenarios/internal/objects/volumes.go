package objects

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/podadmission"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// volumes is what happens to claims: the controllers of PersistentVolumes (pkg/controller/volume/persistentvolume), of
// their protection (pvcprotection, pvprotection) and of ephemeral volumes, and the provisioner of the provider's CSI
// driver. The scheduler here picks a node without them: a claim that waits for its first consumer is bound when a pod
// with it is.
type volumes struct {
	*Objects
	stream model.Stream
	queued map[*Object]bool
	claims map[*Object]struct{}
	disks  map[*Object]struct{}
	users  map[[2]string]map[string]bool // the names of pods, by namespace and claim
	making map[*Object]bool              // claims whose volume is being made
}

const (
	claimProtection  = "kubernetes.io/pvc-protection"
	volumeProtection = "kubernetes.io/pv-protection"
	noProvisioner    = "kubernetes.io/no-provisioner"
)

var volumeController = kube.Source{Component: "persistentvolume-controller"}

func newVolumes(s *Objects) *volumes {
	v := &volumes{
		Objects: s, stream: s.Env.Stream("persistentvolume-controller"), queued: map[*Object]bool{}, claims: map[*Object]struct{}{},
		disks: map[*Object]struct{}{}, users: map[[2]string]map[string]bool{}, making: map[*Object]bool{},
	}
	s.Env.API.WatchPods(func(c kube.Change, old, p *kube.Pod) {
		if c == kube.Modified && old.NodeName == "" && p.NodeName != "" && len(v.users) > 0 {
			if x := v.Get("pods", p.Namespace, p.Name); x != nil {
				v.soonClaims(x)
			}
		}
	})
	return v
}

func (v *volumes) seen(c kube.Change, x *Object) {
	switch x.resource {
	case "pods":
		v.sawPod(c, x)
	case "persistentvolumeclaims":
		if c != kube.Deleted {
			v.claims[x] = struct{}{}
			v.soon(x)
			return
		}
		delete(v.claims, x)
		if pv := v.Get("persistentvolumes", "", decode[corev1.PersistentVolumeClaim](x).Spec.VolumeName); pv != nil {
			v.soon(pv)
		}
	case "persistentvolumes":
		if c == kube.Deleted {
			delete(v.disks, x)
		} else {
			v.disks[x] = struct{}{}
			v.soon(x)
		}
		fallthrough
	case "storageclasses.storage.k8s.io":
		for _, claim := range inOrder(v.claims) {
			// Of all claims: reading the two fields costs far less than decoding them.
			if rawjson.Text(claim.text, "status", "phase") != string(corev1.ClaimBound) || rawjson.Text(claim.text, "spec", "volumeName") == x.Name {
				v.soon(claim)
			}
		}
	}
}

func (v *volumes) sawPod(c kube.Change, x *Object) {
	if x.facts == nil || c == kube.Modified {
		return
	}
	for _, claim := range x.facts.claims {
		id := [2]string{x.Namespace, claim.name}
		if c == kube.Added {
			if v.users[id] == nil {
				v.users[id] = map[string]bool{}
			}
			v.users[id][x.Name] = true
			if claim.template != nil {
				v.Env.After(v.Env.Draw(&v.stream, v.Env.Timings.ControllerReact), func() { v.ephemeral(x, claim) })
			}
		} else if delete(v.users[id], x.Name); len(v.users[id]) == 0 {
			delete(v.users, id)
		}
	}
	v.soonClaims(x)
}

func (v *volumes) soonClaims(pod *Object) {
	if pod.facts == nil {
		return
	}
	for _, claim := range pod.facts.claims {
		if x := v.Get("persistentvolumeclaims", pod.Namespace, claim.name); x != nil {
			v.soon(x)
		}
	}
}

func (v *volumes) soon(x *Object) {
	if v.queued[x] {
		return
	}
	v.queued[x] = true
	v.Env.After(v.Env.Draw(&v.stream, v.Env.Timings.ControllerReact), func() {
		delete(v.queued, x)
		switch {
		case x.gone:
		case x.Resource.Resource == "persistentvolumes":
			v.syncVolume(x)
		default:
			v.syncClaim(x)
		}
	})
}

func decode[T any](x *Object) *T {
	o := new(T)
	_ = json.Unmarshal(x.text, o) // what the API server takes can be read
	return o
}

// ephemeral creates the claim of a pod's own volume (pkg/controller/volume/ephemeral).
func (v *volumes) ephemeral(pod *Object, claim claimOf) {
	if pod.gone || pod.Deleting || v.Terminating(pod.Namespace) || v.Get("persistentvolumeclaims", pod.Namespace, claim.name) != nil {
		return
	}
	yes := true
	v.create("persistentvolumeclaims", v.stream.UUID(), &corev1.PersistentVolumeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: claim.name, Labels: claim.template.Labels, Annotations: claim.template.Annotations, Finalizers: []string{claimProtection},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: typesUID(pod.UID), Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		Spec: claim.template.Spec, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	})
}

// node is where a pod with a claim is, "" where none is scheduled.
func (v *volumes) node(x *Object) string {
	for _, pod := range slices.Sorted(maps.Keys(v.users[[2]string{x.Namespace, x.Name}])) {
		if p := v.Env.API.Pod(x.Namespace, pod); p != nil && p.NodeName != "" {
			return p.NodeName
		}
	}
	return ""
}

// syncClaim is syncClaim of pv_controller.go, and the protection of claims.
func (v *volumes) syncClaim(x *Object) {
	claim := decode[corev1.PersistentVolumeClaim](x)
	node := v.node(x)
	switch {
	case x.Deleting:
		if node == "" {
			v.release(x, claimProtection)
		}
		return
	case !slices.Contains(x.Finalizers, claimProtection):
		v.patch(x, marshal(map[string]any{"metadata": map[string]any{"finalizers": append(slices.Clone(x.Finalizers), claimProtection)}}))
		return // its change comes back here
	case claim.Status.Phase == corev1.ClaimBound:
		if v.Get("persistentvolumes", "", claim.Spec.VolumeName) == nil {
			v.patch(x, []byte(`{"status":{"phase":"Lost","accessModes":null,"capacity":null}}`))
			v.say(x, "Warning", "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
		}
		return
	case claim.Status.Phase == corev1.ClaimLost:
		return
	case claim.Spec.VolumeName != "":
		if pv := v.Get("persistentvolumes", "", claim.Spec.VolumeName); pv != nil && free(decode[corev1.PersistentVolume](pv), x) {
			v.bind(x, claim, pv)
		}
		return
	}
	class := v.class(x, claim)
	waits := class != nil && class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	if pv := v.match(x, claim, node, waits); pv != nil {
		v.bind(x, claim, pv)
		return
	}
	switch {
	case claim.Spec.StorageClassName == nil || *claim.Spec.StorageClassName == "":
		v.say(x, "Normal", "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
	case class == nil:
		v.say(x, "Warning", "ProvisioningFailed", fmt.Sprintf("storageclass.storage.k8s.io %q not found", *claim.Spec.StorageClassName))
	case waits && node == "":
		v.wait(x)
	case class.Provisioner == noProvisioner:
		v.say(x, "Warning", "ProvisioningFailed", "storageclass.storage.k8s.io \""+class.Name+"\" has no provisioner")
	default:
		v.provision(x, claim, class, node, waits)
	}
}

// wait says what a claim waits for.
func (v *volumes) wait(x *Object) {
	pods := slices.Sorted(maps.Keys(v.users[[2]string{x.Namespace, x.Name}]))
	switch len(pods) {
	case 0:
		v.say(x, "Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
	case 1:
		v.say(x, "Normal", "WaitForPodScheduled", "waiting for pod "+pods[0]+" to be scheduled")
	default:
		v.say(x, "Normal", "WaitForPodScheduled", "waiting for pods "+strings.Join(pods, ",")+" to be scheduled")
	}
}

func (v *volumes) say(x *Object, kind, reason, message string) {
	v.Env.API.Record(volumeController, kube.Reference{APIVersion: "v1", Kind: x.Resource.Kind, Namespace: x.Namespace, Name: x.Name, UID: x.UID}, kind, reason, message)
}

// class is the StorageClass of a claim. One that names none gets the default.
func (v *volumes) class(x *Object, claim *corev1.PersistentVolumeClaim) *storagev1.StorageClass {
	if claim.Spec.StorageClassName == nil {
		if is := v.defaultClass(); is != "" {
			claim.Spec.StorageClassName = &is
			v.patch(x, marshal(map[string]any{"spec": map[string]any{"storageClassName": is}}))
		}
	}
	if claim.Spec.StorageClassName == nil {
		return nil
	}
	if c := v.Get("storageclasses", "", *claim.Spec.StorageClassName); c != nil {
		return decode[storagev1.StorageClass](c)
	}
	return nil
}

// defaultClass is the StorageClass of claims that name none; "" where there is none.
func (v *volumes) defaultClass() string {
	var all []*storagev1.StorageClass
	for _, x := range v.All("storageclasses") {
		all = append(all, decode[storagev1.StorageClass](x))
	}
	if c := podadmission.DefaultStorageClass(all); c != nil {
		return c.Name
	}
	return ""
}

// provision has the provisioner make a volume, in the zone of the pod that waits for it.
func (v *volumes) provision(x *Object, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, node string, waits bool) {
	if v.making[x] {
		return
	}
	v.making[x] = true
	notes := map[string]string{kube.Provisioner: class.Provisioner, kube.BetaProvisioner: class.Provisioner}
	if waits {
		notes[kube.SelectedNode] = node
	}
	for key, value := range claim.Annotations {
		if notes[key] == value {
			delete(notes, key)
		}
	}
	if len(notes) > 0 {
		v.patch(x, marshal(map[string]any{"metadata": map[string]any{"annotations": notes}}))
	}
	v.say(x, "Normal", "ExternalProvisioning", fmt.Sprintf("Waiting for a volume to be created either by the external provisioner '%s' or manually by the system administrator. "+
		"If volume creation is delayed, please verify that the provisioner is running and correctly registered.", class.Provisioner))
	v.Env.After(v.Env.Draw(&v.stream, v.Env.Timings.ControllerReact), func() {
		delete(v.making, x)
		if x.gone || x.Deleting {
			return
		}
		zone := ""
		if n := v.Env.API.Node(node); n != nil {
			zone = n.Labels.Get(corev1.LabelTopologyZone)
		}
		pv := v.Disk(claim, class, zone)
		if pv == nil || v.Get("persistentvolumes", "", pv.Name) != nil {
			return // no driver of the provider
		}
		v.create("persistentvolumes", v.stream.UUID(), pv)
		v.Env.API.Record(kube.Source{Component: class.Provisioner}, kube.Reference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: x.Namespace, Name: x.Name, UID: x.UID},
			"Normal", "ProvisioningSucceeded", "Successfully provisioned volume "+pv.Name)
	})
}

// bind makes a volume the claim's.
func (v *volumes) bind(x *Object, claim *corev1.PersistentVolumeClaim, disk *Object) {
	pv := decode[corev1.PersistentVolume](disk)
	if pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID == "" {
		ref := corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: x.Namespace, Name: x.Name, UID: typesUID(x.UID), ResourceVersion: claim.ResourceVersion}
		patch := map[string]any{"spec": map[string]any{"claimRef": ref}}
		if pv.Spec.ClaimRef == nil {
			patch["metadata"] = map[string]any{"annotations": map[string]string{kube.BoundByController: "yes"}}
		}
		v.patch(disk, marshal(patch))
	}
	v.phase(disk, corev1.VolumeBound)
	notes := map[string]string{kube.BindCompleted: "yes"}
	if claim.Spec.VolumeName == "" {
		notes[kube.BoundByController] = "yes"
	}
	v.patch(x, marshal(map[string]any{"metadata": map[string]any{"annotations": notes}, "spec": map[string]any{"volumeName": disk.Name}}))
	v.patch(x, marshal(map[string]any{"status": map[string]any{"phase": corev1.ClaimBound, "accessModes": pv.Spec.AccessModes, "capacity": pv.Spec.Capacity}}))
}

// phase writes the phase of a volume, where it is another.
func (v *volumes) phase(disk *Object, phase corev1.PersistentVolumePhase) {
	if decode[corev1.PersistentVolume](disk).Status.Phase != phase {
		v.patch(disk, marshal(map[string]any{"status": map[string]any{"phase": phase, "lastPhaseTransitionTime": stamp(v.Env.API.Now())}}))
	}
}

// syncVolume is syncVolume of pv_controller.go, the protection of volumes, and what the provisioner does with those
// that it has made when their claim is gone.
func (v *volumes) syncVolume(x *Object) {
	pv := decode[corev1.PersistentVolume](x)
	if x.Deleting {
		if pv.Status.Phase != corev1.VolumeBound {
			v.release(x, volumeProtection)
		} else if v.claimOf(pv) == nil {
			v.phase(x, corev1.VolumeReleased)
		}
		return
	}
	ref := pv.Spec.ClaimRef
	switch {
	case ref == nil || ref.UID == "":
		v.phase(x, corev1.VolumeAvailable)
	case v.claimOf(pv) != nil:
		v.soon(v.claimOf(pv))
	default:
		v.phase(x, corev1.VolumeReleased)
		if pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete && pv.Annotations[kube.ProvisionedBy] != "" {
			v.Delete(x, metav1.DeletePropagationBackground)
		}
	}
}

// claimOf is the claim that a volume names, or nil.
func (v *volumes) claimOf(pv *corev1.PersistentVolume) *Object {
	ref := pv.Spec.ClaimRef
	if ref == nil {
		return nil
	}
	if x := v.Get("persistentvolumeclaims", ref.Namespace, ref.Name); x != nil && x.UID == string(ref.UID) {
		return x
	}
	return nil
}
