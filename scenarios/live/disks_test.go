package live

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
)

// writing has a world write to a fake API server, and returns the patches that it
// was sent, once they are delivered.
func writing(t *testing.T, client *fake.Clientset, write func(*apiServer)) (patches []string) {
	t.Helper()
	client.PrependReactor("patch", "*", func(a clientgotesting.Action) (bool, runtime.Object, error) {
		p := a.(clientgotesting.PatchAction)
		patches = append(patches, p.GetSubresource()+string(p.GetPatch()))
		return false, nil, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	w := &apiServer{label: "db", client: faked(client), writeQueue: newWriteQueue(ctx, func(err error) { t.Error(err) }), kubelets: &kubelets{label: "db"}}
	write(w)
	if err := w.writeQueue.delivered(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	w.writeQueue.close()
	return patches
}

func attachment(finalizers ...string) *storagev1.VolumeAttachment {
	pv := "pvc-1"
	return &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "csi-1", UID: "u-1", Finalizers: finalizers},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: "ebs.csi.aws.com", NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv}},
	}
}

// An attachment has its finalizer before it says that it is attached; both writes
// are for the object of that UID alone.
func TestAttachmentIsHeldBeforeItIsAttached(t *testing.T) {
	was := attachment()
	is := attachment("external-attacher/ebs-csi-aws-com")
	is.Status.Attached = true
	client := fake.NewClientset(was)
	patches := writing(t, client, func(w *apiServer) { w.WriteAttachment(was, is) })
	want := []string{
		`{"metadata":{"finalizers":["external-attacher/ebs-csi-aws-com"],"labels":{"nodesim.dev/live":"db"},"uid":"u-1"}}`,
		`status{"metadata":{"uid":"u-1"},"status":{"attached":true}}`,
	}
	if d := cmp.Diff(want, patches); d != "" {
		t.Errorf("patches (-want +found):\n%s", d)
	}
	patches = writing(t, fake.NewClientset(), func(w *apiServer) { w.WriteAttachment(is, attachment()) })
	if len(patches) == 0 {
		t.Error("the finalizer of an attachment that is gone wasn't tried to be removed: want no error, and one patch")
	}
}

// A volume is created once, and a CSINode belongs to the Node of its name.
func TestVolumesAndDrivers(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u-2", Labels: map[string]string{Label: "db"}}}
	theirs := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "theirs", UID: "u-3"}}
	old := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u-1"}}}}
	client := fake.NewClientset(node, theirs, old)
	pv := func() *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-1"}}
	}
	writing(t, client, func(w *apiServer) {
		w.CreateVolume(pv())
		w.CreateVolume(pv())
		w.PostDrivers(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
		w.PostDrivers(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "gone"}})
		w.PostDrivers(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}})
	})
	made, err := client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-1", metav1.GetOptions{})
	if err != nil || made.Labels[Label] != "db" {
		t.Errorf("volume %v, %v: want one with our label", made, err)
	}
	csi, err := client.StorageV1().CSINodes().Get(t.Context(), "n", metav1.GetOptions{})
	if err != nil || len(csi.OwnerReferences) != 1 || csi.OwnerReferences[0].UID != "u-2" || csi.Labels[Label] != "db" {
		t.Errorf("CSINode %v, %v: want the Node of UID u-2 as its owner, and our label", csi, err)
	}
	for _, name := range []string{"gone", "theirs"} {
		if _, err := client.StorageV1().CSINodes().Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a CSINode of a Node that is %s: %v, want none", name, err)
		}
	}
	writing(t, client, func(w *apiServer) { w.DeleteVolume("pvc-1", ""); w.DeleteVolume("pvc-1", "") })
	if _, err := client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-1", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the volume was deleted: %v", err)
	}
}

// Claims that controllers make carry our label, or nobody would find them in the end.
func TestClaimsAreLabelled(t *testing.T) {
	set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{}}}}
	deployment := &appsv1.Deployment{}
	deployment.Spec.Template.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{
		Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}},
	}}}
	for _, one := range []struct {
		object runtime.Object
		list   []string
		labels []string
	}{
		{set, []string{"spec", "volumeClaimTemplates"}, []string{"metadata", "labels"}},
		{deployment, []string{"spec", "template", "spec", "volumes"}, []string{"ephemeral", "volumeClaimTemplate", "metadata", "labels"}},
	} {
		p, err := (&prerequisites{label: "db"}).plan(one.object)
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := unstructured.NestedSlice(p.object.Object, one.list...)
		if err != nil || len(list) != 1 {
			t.Fatalf("%T: %v, %v", one.object, list, err)
		}
		labels, _, err := unstructured.NestedStringMap(list[0].(map[string]any), one.labels...)
		if err != nil || labels[Label] != "db" {
			t.Errorf("%T: its claims have the labels %v, %v", one.object, labels, err)
		}
	}
	if set.Spec.VolumeClaimTemplates[0].Labels != nil {
		t.Error("what the scenario said was changed in its place")
	}
}
