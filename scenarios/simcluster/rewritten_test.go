package simcluster_test

import (
	"encoding/json"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// patched is an object after a merge patch.
func patched[T any](t *testing.T, patch func(name string, kind types.PatchType, data []byte) (T, error), name, text string) T {
	t.Helper()
	o, err := patch(name, types.MergePatchType, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The ConfigMap with the certificate is written where its data isn't the certificate alone, and not for a label.
func TestTheCertificateOfANamespace(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		const name = "kube-root-ca.crt"
		maps := f.k.CoreV1().ConfigMaps("shop")
		patch := func(text string) *corev1.ConfigMap {
			return patched(t, func(name string, kind types.PatchType, data []byte) (*corev1.ConfigMap, error) {
				return maps.Patch(t.Context(), name, kind, data, metav1.PatchOptions{})
			}, name, text)
		}
		get := func() *corev1.ConfigMap {
			<-time.After(time.Minute)
			c, err := maps.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		was := get()
		labelled := patch(`{"metadata":{"labels":{"mine":"yes"}}}`)
		if is := get(); is.ResourceVersion != labelled.ResourceVersion {
			t.Errorf("after a label it was written again: version %s, want %s", is.ResourceVersion, labelled.ResourceVersion)
		}
		patch(`{"data":{"ca.crt":"none","mine":"too"},"metadata":{"annotations":null}}`)
		if is := get(); len(is.Data) != 1 || is.Data["ca.crt"] != was.Data["ca.crt"] || is.Labels["mine"] != "yes" || len(is.Annotations) != 1 {
			t.Errorf("data of %d keys, labels %v, annotations %v", len(is.Data), is.Labels, is.Annotations)
		}
	})
}

// What a client notes on a Service's Endpoints and EndpointSlices stays there when they change.
func TestAnnotationsOfEndpointsStay(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		if _, err := f.serve(service("web", corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}})); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		note, ctx := []byte(`{"metadata":{"annotations":{"mine":"yes"}}}`), t.Context()
		if _, err := f.k.CoreV1().Endpoints("shop").Patch(ctx, "web", types.MergePatchType, note, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.k.DiscoveryV1().EndpointSlices("shop").Patch(ctx, f.slicesOf("web")[0].Name, types.MergePatchType, note, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.k.CoreV1().Services("shop").Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"new":"yes"}}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		points, err := f.k.CoreV1().Endpoints("shop").Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for what, is := range map[string]metav1.ObjectMeta{"Endpoints": points.ObjectMeta, "EndpointSlice": f.slicesOf("web")[0].ObjectMeta} {
			if is.Labels["new"] != "yes" || is.Annotations["mine"] != "yes" {
				text, _ := json.Marshal(is) // for people
				t.Errorf("%s: %s", what, text)
			}
		}
	})
}

// An actor's Event that a client has deleted is created again when it comes again, under its name and with its count.
func TestDeletedEventsComeAgain(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx := t.Context()
		one, labels := int32(1), map[string]string{"app": "refused"}
		set := &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "refused"},
			Spec: appsv1.ReplicaSetSpec{
				Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{PriorityClassName: "none", Containers: []corev1.Container{{Name: "c", Image: "registry.example/c:1"}}},
				},
			},
		}
		if _, err := f.k.AppsV1().ReplicaSets("shop").Create(ctx, set, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		about := func() []corev1.Event {
			l, err := f.k.CoreV1().Events("shop").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=refused"})
			if err != nil {
				t.Fatal(err)
			}
			return l.Items
		}
		f.c.Eventually(10*time.Minute, "an Event about the ReplicaSet", func() bool { return len(about()) == 1 })
		was := about()[0]
		if err := f.k.CoreV1().Events("shop").Delete(ctx, was.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.c.Eventually(time.Hour, "the Event to come again", func() bool { return len(about()) > 0 })
		if is := about()[0]; is.Name != was.Name || is.UID == was.UID || is.Count <= was.Count {
			t.Errorf("another Event: %+v", is)
		}
		if err := f.k.AppsV1().ReplicaSets("shop").Delete(ctx, "refused", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.c.Eventually(2*time.Hour, "the Event's end", func() bool { return len(about()) == 0 })
	})
}

// An actor's Event that a client has deleted, created again and deleted again has one end, and an Event of its name in another
// namespace isn't taken for it.
func TestDeletedEventsOfClientsEndOnce(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx, core := t.Context(), f.k.CoreV1()
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "big"}, Spec: template("x").Spec}
		pod.Spec.Containers[0].Resources.Requests = quantities("cpu", "1000")
		for pods, then := range map[string]string{"default": "default", "shop": "kube-system"} {
			if _, err := core.Pods(pods).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			var e corev1.Event
			f.c.Eventually(time.Minute, "an Event about the pod", func() bool {
				l, err := core.Events(pods).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=big"})
				if err != nil {
					t.Fatal(err)
				}
				if len(l.Items) == 1 {
					e = l.Items[0]
				}
				return len(l.Items) == 1
			})
			if err := core.Events(pods).Delete(ctx, e.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			e.ResourceVersion, e.UID, e.Namespace, e.InvolvedObject.Namespace = "", "", then, then
			if _, err := core.Events(then).Create(ctx, &e, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := core.Events(then).Delete(ctx, e.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(3 * time.Hour)
		if _, err := core.Nodes().List(ctx, metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// The hour of an actor's Event begins again with a client's write of it, as with the actor's own.
func TestClientsRenewEventsOfActors(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx, core := t.Context(), f.k.CoreV1()
		if _, err := core.Pods("shop").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: template("x").Spec}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		scheduled := func() []corev1.Event {
			l, err := core.Events("shop").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=one,reason=Scheduled"})
			if err != nil {
				t.Fatal(err)
			}
			return l.Items
		}
		f.c.Eventually(time.Minute, "an Event about the pod", func() bool { return len(scheduled()) == 1 })
		<-time.After(30 * time.Minute)
		patched(t, func(name string, kind types.PatchType, data []byte) (*corev1.Event, error) {
			return core.Events("shop").Patch(ctx, name, kind, data, metav1.PatchOptions{})
		}, scheduled()[0].Name, `{"metadata":{"labels":{"seen":"yes"}}}`)
		<-time.After(59 * time.Minute)
		if n := len(scheduled()); n != 1 {
			t.Errorf("%d Events, want 1", n)
		}
		<-time.After(2 * time.Minute)
		if n := len(scheduled()); n != 0 {
			t.Errorf("%d Events, want none", n)
		}
	})
}
