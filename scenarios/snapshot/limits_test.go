package snapshot_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/snapshot"
)

// TestVolumeLimits: an instance type takes as many volumes of a driver as the CSINode of each of its nodes says at least.
func TestVolumeLimits(t *testing.T) {
	m := newMade(t)
	builtIn := func(n *corev1.Node) { n.Status.Allocatable["attachable-volumes-aws-ebs"] = resource.MustParse("39") }
	m.node("a", "workers", "eu-central-1a", builtIn)
	m.node("b", "workers", "eu-central-1b", builtIn)
	limit := func(node string, drivers map[string]int32) {
		csi := &storagev1.CSINode{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}, ObjectMeta: metav1.ObjectMeta{Name: node}}
		for name, count := range drivers {
			csi.Spec.Drivers = append(csi.Spec.Drivers, storagev1.CSINodeDriver{Name: name, NodeID: node, Allocatable: &storagev1.VolumeNodeResources{Count: &count}})
		}
		csi.Spec.Drivers = append(csi.Spec.Drivers, storagev1.CSINodeDriver{Name: "efs.csi.aws.com", NodeID: node})
		m.add(csi)
	}
	limit("a", map[string]int32{"ebs.csi.aws.com": 25, "local.example.com": 4})
	limit("b", map[string]int32{"ebs.csi.aws.com": 26})
	m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"a"}})
	found := map[string]string{}
	for name, q := range m.file(snapshot.Options{At: read}).Cluster.InstanceTypes[0].Allocatable {
		if name != "cpu" && name != "memory" && name != "pods" && name != "ephemeral-storage" {
			found[name] = q.String()
		}
	}
	if len(found) != 1 || found["attachable-volumes-csi-ebs.csi.aws.com"] != "25" {
		t.Errorf("found %v, want attachable-volumes-csi-ebs.csi.aws.com 25 alone: the other driver has no limit on b", found)
	}
}
