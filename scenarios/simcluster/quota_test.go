package simcluster_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// used waits until a quota says what is used.
func (f *family) used(namespace, name string, want corev1.ResourceList) {
	f.t.Helper()
	f.c.Eventually(time.Minute, "what the quota says is used", func() bool {
		q, err := f.k.CoreV1().ResourceQuotas(namespace).Get(f.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			f.t.Fatal(err)
		}
		for name, n := range want {
			if is, has := q.Status.Used[name]; !has || is.Cmp(n) != 0 {
				return false
			}
		}
		return true
	})
}

func quantities(pairs ...string) corev1.ResourceList {
	all := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		all[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return all
}

// A quota counts what is there, refuses what is too much, to clients and to controllers, and has room again when something is gone.
func TestAQuotaBoundsANamespace(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx, core := t.Context(), f.k.CoreV1()
		if _, err := core.ResourceQuotas("default").Create(ctx, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "few"}, Spec: corev1.ResourceQuotaSpec{Hard: quantities("pods", "2", "count/deployments.apps", "1", "services", "2", "limits.cpu", "1")},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.used("default", "few", quantities("pods", "0", "services", "1", "limits.cpu", "0"))
		if _, err := core.LimitRanges("default").Create(ctx, &corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				Type: corev1.LimitTypeContainer, Default: quantities("cpu", "400m"), Max: quantities("cpu", "500m"),
			}}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		pod := func(name string) *corev1.Pod {
			return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: template("x").Spec}
		}
		one, err := core.Pods("default").Create(ctx, pod("one"), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r := one.Spec.Containers[0].Resources; r.Limits.Cpu().String() != "400m" || r.Requests.Cpu().String() != "400m" || one.Status.QOSClass != corev1.PodQOSBurstable ||
			one.Annotations["kubernetes.io/limit-ranger"] != "LimitRanger plugin set: cpu request for container x; cpu limit for container x" {
			t.Errorf("%+v, %s, %v", r, one.Status.QOSClass, one.Annotations)
		}
		much := pod("much")
		much.Spec.Containers[0].Resources.Limits = quantities("cpu", "600m")
		_, err = core.Pods("default").Create(ctx, much, metav1.CreateOptions{})
		if want := `pods "much" is forbidden: maximum cpu usage per Container is 500m, but limit is 600m`; !apierrors.IsForbidden(err) || err.Error() != want {
			t.Errorf("found %v, want %s", err, want)
		}
		f.used("default", "few", quantities("pods", "1", "limits.cpu", "400m"))

		deploy(t, f.k, "default", "web", 3)
		f.used("default", "few", quantities("pods", "2", "count/deployments.apps", "1", "limits.cpu", "800m"))
		f.c.Eventually(time.Minute, "why no further pod is created", func() bool {
			events, err := core.Events("default").List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedCreate"})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events.Items {
				if strings.Contains(e.Message, `is forbidden: exceeded quota: few, requested: limits.cpu=400m,pods=1, used: limits.cpu=800m,pods=2, limited: limits.cpu=1,pods=2`) {
					return true
				}
			}
			return false
		})
		_, err = core.Pods("default").Create(ctx, pod("two"), metav1.CreateOptions{})
		if want := `pods "two" is forbidden: exceeded quota: few, requested: limits.cpu=400m,pods=1, used: limits.cpu=800m,pods=2, limited: limits.cpu=1,pods=2`; !apierrors.IsForbidden(err) || err.Error() != want {
			t.Errorf("found %v, want %s", err, want)
		}
		if err := core.Pods("default").Delete(ctx, "one", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.c.Eventually(time.Hour, "a second pod of web", func() bool {
			d, err := f.k.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return d.Status.ReadyReplicas == 2
		})
		if err := f.k.AppsV1().Deployments("default").Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.used("default", "few", quantities("pods", "0", "count/deployments.apps", "0", "limits.cpu", "0"))
	})
}

// A StatefulSet whose claims a quota refuses says so, and creates no pod until there is room.
func TestAQuotaRefusesClaimsOfAStatefulSet(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx, core := t.Context(), f.k.CoreV1()
		q, err := core.ResourceQuotas("default").Create(ctx, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: quantities("persistentvolumeclaims", "0")},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f.used("default", "none", quantities("persistentvolumeclaims", "0"))
		one := int32(1)
		if _, err := f.k.AppsV1().StatefulSets("default").Create(ctx, &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "db"},
			Spec: appsv1.StatefulSetSpec{
				Replicas: &one, ServiceName: "db", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, Template: template("db"),
				VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
					ObjectMeta: metav1.ObjectMeta{Name: "data"},
					Spec: corev1.PersistentVolumeClaimSpec{
						AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: corev1.VolumeResourceRequirements{Requests: quantities("storage", "1Gi")},
					},
				}},
			},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.c.Eventually(time.Minute, "why there is no pod", func() bool {
			events, err := core.Events("default").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=db"})
			if err != nil {
				t.Fatal(err)
			}
			all := ""
			for _, e := range events.Items {
				all += e.Message + "\n"
			}
			why := `persistentvolumeclaims "data-db-0" is forbidden: exceeded quota: none, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=0, limited: persistentvolumeclaims=0`
			return strings.Contains(all, "Create Claim data-db-0 for Pod db-0 in StatefulSet db failed error: "+why) &&
				strings.Contains(all, "Create Pod db-0 in StatefulSet db failed error: failed to create PVC data-db-0: "+why)
		})
		if err := core.ResourceQuotas("default").Delete(ctx, q.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.c.Eventually(time.Hour, "a pod of db", func() bool {
			p, err := core.Pods("default").Get(ctx, "db-0", metav1.GetOptions{})
			return err == nil && p.Status.Phase == corev1.PodRunning
		})
	})
}
