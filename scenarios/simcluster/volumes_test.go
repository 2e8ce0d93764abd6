package simcluster_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
)

func (f *family) claim(name string, class *string, size string) *corev1.PersistentVolumeClaim {
	f.t.Helper()
	c, err := f.k.CoreV1().PersistentVolumeClaims("shop").Create(f.t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func (f *family) getClaim(name string) *corev1.PersistentVolumeClaim {
	f.t.Helper()
	c, err := f.k.CoreV1().PersistentVolumeClaims("shop").Get(f.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

// Of two default classes of one second, claims of clients and those of a StatefulSet get the same one.
func TestDefaultStorageClasses(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx := t.Context()
		for _, name := range []string{"alpha", "beta"} {
			class := &storagev1.StorageClass{
				ObjectMeta:  metav1.ObjectMeta{Name: name, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
				Provisioner: "example.com/none",
			}
			if _, err := f.k.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		c := f.claim("by-hand", nil, "1Gi")
		if _, err := f.k.AppsV1().StatefulSets("shop").Create(ctx, &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "db"},
			Spec: appsv1.StatefulSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: template("db").Labels}, Template: template("db"),
				VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: c.Spec.AccessModes, Resources: c.Spec.Resources,
				}}},
			},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.c.Eventually(time.Minute, "the claim of db-0 to have a class", func() bool {
			c, err := f.k.CoreV1().PersistentVolumeClaims("shop").Get(ctx, "data-db-0", metav1.GetOptions{})
			return err == nil && c.Spec.StorageClassName != nil
		})
		if own := *f.getClaim("data-db-0").Spec.StorageClassName; own != "alpha" || *c.Spec.StorageClassName != own {
			t.Errorf("a client's claim has class %s, that of the StatefulSet %s; want alpha of both", *c.Spec.StorageClassName, own)
		}
	})
}

// A claim gets its volume in the zone of its first pod, and keeps it as long as a pod has it.
func TestAClaim(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx, api := t.Context(), f.k.CoreV1()
		c := f.claim("data", nil, "1Gi")
		if *c.Spec.StorageClassName != "nodesim" || !slices.Equal(c.Finalizers, []string{"kubernetes.io/pvc-protection"}) || c.Status.Phase != corev1.ClaimPending {
			t.Errorf("the claim: %+v", c)
		}
		<-time.After(time.Minute)
		if c = f.getClaim("data"); c.Status.Phase != corev1.ClaimPending {
			t.Errorf("without a pod the claim is %s", c.Status.Phase)
		}
		spec := template("user").Spec
		spec.Volumes = []corev1.Volume{
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			{Name: "own", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: c.Spec}}}},
		}
		if _, err := api.Pods("shop").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "user"}, Spec: spec}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		pod, err := api.Pods("shop").Get(ctx, "user", metav1.GetOptions{})
		if err != nil || pod.Status.Phase != corev1.PodRunning {
			t.Fatalf("the pod is %s: %v", pod.Status.Phase, err)
		}
		node, err := api.Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c = f.getClaim("data")
		pv, err := api.PersistentVolumes().Get(ctx, c.Spec.VolumeName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Status.Phase != corev1.ClaimBound || pv.Status.Phase != corev1.VolumeBound || pv.Name != "pvc-"+string(c.UID) || pv.Spec.ClaimRef.UID != c.UID || !c.Status.Capacity.Storage().Equal(resource.MustParse("1Gi")) ||
			c.Annotations["volume.kubernetes.io/selected-node"] != node.Name || c.Annotations["pv.kubernetes.io/bind-completed"] != "yes" {
			t.Errorf("bound: %+v, %+v", c, pv)
		}
		zone := pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values
		if !slices.Equal(zone, []string{node.Labels[corev1.LabelTopologyZone]}) {
			t.Errorf("the volume is in %v, the node in %s", zone, node.Labels[corev1.LabelTopologyZone])
		}
		if !slices.ContainsFunc(node.Status.VolumesAttached, func(v corev1.AttachedVolume) bool {
			return string(v.Name) == "kubernetes.io/csi/"+pv.Spec.CSI.Driver+"^"+pv.Spec.CSI.VolumeHandle
		}) {
			t.Errorf("the node's volumes: %+v, want %s", node.Status.VolumesAttached, pv.Spec.CSI.VolumeHandle)
		}
		if own := f.getClaim("user-own"); own.Status.Phase != corev1.ClaimBound || own.OwnerReferences[0].UID != pod.UID {
			t.Errorf("the pod's own: %+v", own)
		}
		if err := api.PersistentVolumeClaims("shop").Delete(ctx, "data", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if c = f.getClaim("data"); c.DeletionTimestamp == nil {
			t.Error("the claim isn't at its end")
		}
		if err := api.Pods("shop").Delete(ctx, "user", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(5 * time.Minute)
		for _, name := range []string{"data", "user-own"} {
			if _, err := api.PersistentVolumeClaims("shop").Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("%s is left: %v", name, err)
			}
		}
		if _, err := api.PersistentVolumes().Get(ctx, pv.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the volume is left: %v", err)
		}
	})
}

// A volume that somebody has made is bound to the claim that it suits best.
func TestVolumesByHand(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx, api := t.Context(), f.k.CoreV1()
		at := storagev1.VolumeBindingImmediate
		if _, err := f.k.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "hand"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &at}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for name, size := range map[string]string{"small": "1Gi", "right": "5Gi", "large": "9Gi"} {
			if _, err := api.PersistentVolumes().Create(ctx, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
				StorageClassName: "hand", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
				Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}},
			}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		hand := "hand"
		f.claim("mine", &hand, "4Gi")
		<-time.After(time.Minute)
		phase := func(name string) corev1.PersistentVolumePhase {
			pv, err := api.PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return pv.Status.Phase
		}
		if c := f.getClaim("mine"); c.Spec.VolumeName != "right" || c.Status.Phase != corev1.ClaimBound || phase("right") != corev1.VolumeBound || phase("large") != corev1.VolumeAvailable {
			t.Errorf("bound to %q; right is %s, large is %s", c.Spec.VolumeName, phase("right"), phase("large"))
		}
		if err := api.PersistentVolumeClaims("shop").Delete(ctx, "mine", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if phase("right") != corev1.VolumeReleased {
			t.Errorf("after the claim the volume is %s", phase("right"))
		}
	})
}

// The pods of a scenario have their claims.
func TestClaimsOfAScenario(t *testing.T) {
	d, err := scenarios.Parse("test.yaml", []byte(`
apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: volumes, title: a shop with volumes}
cluster: {provider: eks}
groups: [{name: workers, nodes: 3}]
workloads:
- {name: queue, namespace: shop, kind: StatefulSet, replicas: 2, volume: 2Gi}
`))
	if err != nil {
		t.Fatal(err)
	}
	file, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.AtRest(simcluster.File(file)))
		c.Start()
		f := &family{t: t, c: c, k: clients(t, c)}
		is := func(name string) {
			t.Helper()
			claim := f.getClaim(name)
			pv, err := f.k.CoreV1().PersistentVolumes().Get(t.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
			if err != nil || claim.Status.Phase != corev1.ClaimBound || pv.Spec.ClaimRef.UID != claim.UID || pv.Status.Phase != corev1.VolumeBound {
				t.Errorf("%s: %+v, %+v, %v", name, claim, pv, err)
			}
		}
		is("data-queue-0")
		scale, err := f.k.AppsV1().StatefulSets("shop").GetScale(t.Context(), "queue", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		scale.Spec.Replicas = 3
		if _, err := f.k.AppsV1().StatefulSets("shop").UpdateScale(t.Context(), "queue", scale, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(5 * time.Minute)
		is("data-queue-0")
		is("data-queue-2")
		sound(t, c)
	})
}
