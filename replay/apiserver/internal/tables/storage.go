package tables

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
)

func storageClasses() *Printer {
	class := storagev1.StorageClass{}
	return typed(storageClassCells,
		nameColumn(),
		text("Provisioner", doc(class, "provisioner")),
		text("ReclaimPolicy", doc(class, "reclaimPolicy")),
		text("VolumeBindingMode", doc(class, "volumeBindingMode")),
		text("AllowVolumeExpansion", doc(class, "allowVolumeExpansion")),
		ageColumn(),
	)
}

// storageClassCells marks the default class by its annotation, or by the one that preceded it
// (pkg/apis/storage/util/helpers.go).
func storageClassCells(class *storagev1.StorageClass, now time.Time) []any {
	name := class.Name
	if class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
		class.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true" {
		name += defaultMark
	}
	return []any{
		name, class.Provisioner, string(ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)),
		string(ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate)), ptr.Deref(class.AllowVolumeExpansion, false),
		since(class.CreationTimestamp, now),
	}
}

func volumeAttributesClasses() *Printer {
	return typed(func(c *storagev1.VolumeAttributesClass, now time.Time) []any {
		return []any{c.Name, c.DriverName, since(c.CreationTimestamp, now)}
	}, nameColumn(), text("DriverName", doc(storagev1.VolumeAttributesClass{}, "driverName")), ageColumn())
}

func volumeAttachments() *Printer {
	spec := storagev1.VolumeAttachmentSpec{}
	return typed(func(a *storagev1.VolumeAttachment, now time.Time) []any {
		return []any{
			a.Name, a.Spec.Attacher, ptr.Deref(a.Spec.Source.PersistentVolumeName, ""), a.Spec.NodeName, a.Status.Attached,
			since(a.CreationTimestamp, now),
		}
	},
		nameColumn(),
		identifier(text("Attacher", doc(spec, "attacher"))),
		text("PV", doc(storagev1.VolumeAttachmentSource{}, "persistentVolumeName")),
		text("Node", doc(spec, "nodeName")),
		boolean("Attached", doc(storagev1.VolumeAttachmentStatus{}, "attached")),
		ageColumn(),
	)
}
