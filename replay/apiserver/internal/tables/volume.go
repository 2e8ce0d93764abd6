package tables

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func persistentVolumes() *Printer {
	spec, status := corev1.PersistentVolumeSpec{}, corev1.PersistentVolumeStatus{}
	return typed(persistentVolumeCells,
		nameColumn(),
		text("Capacity", doc(spec, "capacity")),
		text("Access Modes", doc(spec, "accessModes")),
		text("Reclaim Policy", doc(spec, "persistentVolumeReclaimPolicy")),
		text("Status", doc(status, "phase")),
		text("Claim", doc(spec, "claimRef")),
		text("StorageClass", "StorageClass of the pv"),
		text("VolumeAttributesClass", "VolumeAttributesClass of the pv"),
		text("Reason", doc(status, "reason")),
		ageColumn(),
		wide(text("VolumeMode", doc(spec, "volumeMode"))),
	)
}

func persistentVolumeCells(volume *corev1.PersistentVolume, now time.Time) []any {
	spec := &volume.Spec
	claim := ""
	if spec.ClaimRef != nil {
		claim = spec.ClaimRef.Namespace + "/" + spec.ClaimRef.Name
	}
	return []any{
		volume.Name, storage(spec.Capacity), accessModes(spec.AccessModes),
		cmp.Or(string(spec.PersistentVolumeReclaimPolicy), string(corev1.PersistentVolumeReclaimRetain)),
		volumePhase(volume.ObjectMeta, cmp.Or(string(volume.Status.Phase), string(corev1.VolumePending))), claim,
		storageClass(volume.ObjectMeta, spec.StorageClassName), ptr.Deref(spec.VolumeAttributesClassName, unset), volume.Status.Reason,
		since(volume.CreationTimestamp, now), string(ptr.Deref(spec.VolumeMode, corev1.PersistentVolumeFilesystem)),
	}
}

func persistentVolumeClaims() *Printer {
	spec, status := corev1.PersistentVolumeClaimSpec{}, corev1.PersistentVolumeClaimStatus{}
	return typed(persistentVolumeClaimCells,
		nameColumn(),
		text("Status", doc(status, "phase")),
		text("Volume", doc(spec, "volumeName")),
		text("Capacity", doc(status, "capacity")),
		text("Access Modes", doc(status, "accessModes")),
		text("StorageClass", "StorageClass of the pvc"),
		text("VolumeAttributesClass", "VolumeAttributesClass of the pvc"),
		ageColumn(),
		wide(text("VolumeMode", doc(spec, "volumeMode"))),
	)
}

// persistentVolumeClaimCells shows what the volume offers, not what was asked for, so nothing before there is one.
func persistentVolumeClaimCells(claim *corev1.PersistentVolumeClaim, now time.Time) []any {
	spec, status := &claim.Spec, &claim.Status
	capacity, modes := "", ""
	if spec.VolumeName != "" {
		capacity, modes = storage(status.Capacity), accessModes(status.AccessModes)
	}
	return []any{
		claim.Name, volumePhase(claim.ObjectMeta, cmp.Or(string(status.Phase), string(corev1.ClaimPending))), spec.VolumeName, capacity, modes,
		storageClass(claim.ObjectMeta, ptr.Deref(spec.StorageClassName, "")), ptr.Deref(spec.VolumeAttributesClassName, unset),
		since(claim.CreationTimestamp, now), string(ptr.Deref(spec.VolumeMode, corev1.PersistentVolumeFilesystem)),
	}
}

func storage(of corev1.ResourceList) string {
	quantity := of[corev1.ResourceStorage]
	return quantity.String()
}

// volumePhase is the phase, unless the object is being deleted.
func volumePhase(meta metav1.ObjectMeta, phase string) string {
	if meta.DeletionTimestamp != nil {
		return "Terminating"
	}
	return phase
}

// storageClass is the class, unless the annotation that preceded the field is there.
func storageClass(meta metav1.ObjectMeta, class string) string {
	if older, ok := meta.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return older
	}
	return class
}

// accessModes lists the modes in one order, each once, by their short names.
func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var words []string
	for _, known := range []struct {
		mode  corev1.PersistentVolumeAccessMode
		short string
	}{
		{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(modes, known.mode) {
			words = append(words, known.short)
		}
	}
	return strings.Join(words, ",")
}
