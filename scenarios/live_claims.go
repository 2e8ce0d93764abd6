package scenarios

import (
	"encoding/json"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// storageClass is the class of all claims of a live run.
const storageClass = "nodesim"

// objectOf makes the object of a workload, with the claims of its pods.
func (p *LiveSimulation) objectOf(w *spec.Workload) runtime.Object {
	o := objectOf(p.sim.workload(w))
	if w.Volume != nil {
		addClaims(o, p.sim.workload(w).Template.Volume, *w.Volume)
	}
	if set, is := o.(*appsv1.StatefulSet); is && len(w.Pods) > 0 {
		set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement // all of them have to be there before the nodes are
	}
	return o
}

// addClaims has the pods of a workload claim a volume. Those of a StatefulSet keep their claims, those of others have
// theirs as long as they live: generic ephemeral volumes.
func addClaims(o runtime.Object, name string, size resource.Quantity) {
	pods := convert.PodTemplateToAPI(o)
	if pods == nil {
		return
	}
	claim := claimSpec(size)
	if set, is := o.(*appsv1.StatefulSet); is {
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: claim}}
	} else {
		pods.Spec.Volumes = []corev1.Volume{{Name: name, VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claim}},
		}}}
	}
	mount(pods, name)
}

// mount has all containers mount a volume.
func mount(pods *corev1.PodTemplateSpec, volume string) {
	for i := range pods.Spec.Containers {
		c := &pods.Spec.Containers[i]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: "/" + volume})
	}
}

func claimSpec(size resource.Quantity) corev1.PersistentVolumeClaimSpec {
	class := storageClass
	return corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
	}
}

// annNodeID is where a Node says what its CSI drivers call it
// (pkg/volume/csi/nodeinfomanager/nodeinfomanager.go).
const annNodeID = "csi.volume.kubernetes.io/nodeid"

// postDrivers posts a node's CSINode when its drivers have registered.
func (d *disks) postDrivers(old, is *corev1.Node) {
	note := is.Annotations[annNodeID]
	if d == nil || note == "" || old != nil && old.Annotations[annNodeID] == note {
		return
	}
	ids := map[string]string{}
	if json.Unmarshal([]byte(note), &ids) != nil {
		return // another client's
	}
	csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: is.Name}}
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		csi.Spec.Drivers = append(csi.Spec.Drivers, storagev1.CSINodeDriver{Name: name, NodeID: ids[name], TopologyKeys: []string{corev1.LabelTopologyZone}})
	}
	d.p.apiServer.PostDrivers(csi)
}
