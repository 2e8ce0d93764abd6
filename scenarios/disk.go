package scenarios

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// drivers are the CSI drivers of the providers' disks.
var drivers = map[spec.Provider]string{spec.ProviderGKE: "pd.csi.storage.gke.io", spec.ProviderAKS: "disk.csi.azure.com"}

const ebs = "ebs.csi.aws.com"

// driver is that of the provider's disks.
func (s *Simulation) driver() string {
	if d := drivers[s.file.Cluster.Provider]; d != "" {
		return d
	}
	return ebs
}

// storageClass is the StorageClass: a volume is made in the zone of its first pod.
func (s *Simulation) storageClass() *storagev1.StorageClass {
	wait, reclaim := storagev1.VolumeBindingWaitForFirstConsumer, corev1.PersistentVolumeReclaimDelete
	return &storagev1.StorageClass{
		TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"}, ObjectMeta: metav1.ObjectMeta{Name: storageClass},
		Provisioner: s.driver(), VolumeBindingMode: &wait, ReclaimPolicy: &reclaim,
	}
}

// disk is the PersistentVolume that the provisioner makes for a claim, in a zone.
func (s *Simulation) disk(in *corev1.PersistentVolumeClaim, class, zone string, chance *model.Stream) *corev1.PersistentVolume {
	name := "pvc-" + string(in.UID)
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{kube.ProvisionedBy: s.driver()}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: in.Spec.Resources.Requests, AccessModes: in.Spec.AccessModes, VolumeMode: in.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete, StorageClassName: class,
			ClaimRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: in.Namespace, Name: in.Name, UID: in.UID, ResourceVersion: in.ResourceVersion},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: s.driver(), VolumeHandle: s.handle(name, zone, chance), FSType: "ext4",
			}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}},
			}}}},
		},
	}
}

// handle returns the provider's name of a volume.
func (s *Simulation) handle(name, zone string, chance *model.Stream) string {
	switch s.file.Cluster.Provider {
	case spec.ProviderGKE:
		return "projects/" + s.file.Cluster.Name + "-project/zones/" + zone + "/disks/" + name
	case spec.ProviderAKS:
		return "/subscriptions/" + chance.UUID() + "/resourceGroups/" + s.file.Cluster.Name + "/providers/Microsoft.Compute/disks/" + name
	}
	return "vol-0" + chance.Hex(16)
}
