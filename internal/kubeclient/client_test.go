package kubeclient

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestRequests compares the requests of each resource and method with those of client-go's typed clients.
func TestRequests(t *testing.T) {
	for name, config := range map[string]rest.Config{
		"protobuf": {ContentConfig: rest.ContentConfig{
			ContentType:        runtime.ContentTypeProtobuf,
			AcceptContentTypes: runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON,
		}},
		"json": {ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := newEcho(t, config), newEcho(t, config)
			us, err := New(ours.config, nil)
			if err != nil {
				t.Fatal(err)
			}
			they, err := kubernetes.NewForConfig(theirs.config)
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			all(ctx, us.AppsV1().Deployments("a"), &appsv1.Deployment{ObjectMeta: named})
			all(ctx, they.AppsV1().Deployments("a"), &appsv1.Deployment{ObjectMeta: named})
			all(ctx, us.AppsV1().ReplicaSets("a"), &appsv1.ReplicaSet{ObjectMeta: named})
			all(ctx, they.AppsV1().ReplicaSets("a"), &appsv1.ReplicaSet{ObjectMeta: named})
			all(ctx, us.AppsV1().StatefulSets("a"), &appsv1.StatefulSet{ObjectMeta: named})
			all(ctx, they.AppsV1().StatefulSets("a"), &appsv1.StatefulSet{ObjectMeta: named})
			all(ctx, us.CoordinationV1().Leases("a"), &coordinationv1.Lease{ObjectMeta: named})
			all(ctx, they.CoordinationV1().Leases("a"), &coordinationv1.Lease{ObjectMeta: named})
			all(ctx, us.CoreV1().Events(""), &corev1.Event{ObjectMeta: named})
			all(ctx, they.CoreV1().Events(""), &corev1.Event{ObjectMeta: named})
			all(ctx, us.CoreV1().Nodes(), &corev1.Node{ObjectMeta: named})
			all(ctx, they.CoreV1().Nodes(), &corev1.Node{ObjectMeta: named})
			all(ctx, us.CoreV1().PersistentVolumeClaims("a"), &corev1.PersistentVolumeClaim{ObjectMeta: named})
			all(ctx, they.CoreV1().PersistentVolumeClaims("a"), &corev1.PersistentVolumeClaim{ObjectMeta: named})
			all(ctx, us.CoreV1().PersistentVolumes(), &corev1.PersistentVolume{ObjectMeta: named})
			all(ctx, they.CoreV1().PersistentVolumes(), &corev1.PersistentVolume{ObjectMeta: named})
			all(ctx, us.CoreV1().Pods("a"), &corev1.Pod{ObjectMeta: named})
			all(ctx, they.CoreV1().Pods("a"), &corev1.Pod{ObjectMeta: named})
			all(ctx, us.EventsV1().Events("a"), &eventsv1.Event{ObjectMeta: named})
			all(ctx, they.EventsV1().Events("a"), &eventsv1.Event{ObjectMeta: named})
			all(ctx, us.PolicyV1().PodDisruptionBudgets("a"), &policyv1.PodDisruptionBudget{ObjectMeta: named})
			all(ctx, they.PolicyV1().PodDisruptionBudgets("a"), &policyv1.PodDisruptionBudget{ObjectMeta: named})
			all(ctx, us.StorageV1().CSINodes(), &storagev1.CSINode{ObjectMeta: named})
			all(ctx, they.StorageV1().CSINodes(), &storagev1.CSINode{ObjectMeta: named})
			all(ctx, us.StorageV1().VolumeAttachments(), &storagev1.VolumeAttachment{ObjectMeta: named})
			all(ctx, they.StorageV1().VolumeAttachments(), &storagev1.VolumeAttachment{ObjectMeta: named})
			_, _ = us.CoreV1().Pods("a").UpdateStatus(ctx, &corev1.Pod{ObjectMeta: named}, metav1.UpdateOptions{})
			_, _ = they.CoreV1().Pods("a").UpdateStatus(ctx, &corev1.Pod{ObjectMeta: named}, metav1.UpdateOptions{})
			review := &authorizationv1.SelfSubjectAccessReview{ObjectMeta: named}
			_, _ = us.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			_, _ = they.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			_ = us.CoreV1().RESTClient().Get().AbsPath("/version").Do(ctx).Error()
			_ = they.CoreV1().RESTClient().Get().AbsPath("/version").Do(ctx).Error()
			if len(ours.asked) != len(theirs.asked) || len(ours.asked) < 13*7 {
				t.Fatalf("found %d requests, client-go makes %d: want 94 of both", len(ours.asked), len(theirs.asked))
			}
			for i, want := range theirs.asked {
				if ours.asked[i] != want {
					t.Errorf("found request\n%s\nclient-go makes\n%s", ours.asked[i], want)
				}
			}
		})
	}
}

// TestAnswers proves that what a server answers is decoded, and that the content type is protobuf where none is named.
func TestAnswers(t *testing.T) {
	server := newEcho(t, rest.Config{})
	client, err := New(server.config, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.Pod{ObjectMeta: named, Spec: corev1.PodSpec{NodeName: "n"}}
	got, err := client.CoreV1().Pods("a").Create(t.Context(), want, metav1.CreateOptions{})
	if err != nil || got.Name != want.Name || !reflect.DeepEqual(got.Spec, want.Spec) {
		t.Errorf("found %+v, error %v: want the pod", got, err)
	}
	if !strings.Contains(server.asked[0], "Content-Type "+runtime.ContentTypeProtobuf) {
		t.Errorf("found request %s: want one in protobuf", server.asked[0])
	}
}

var named = metav1.ObjectMeta{Name: "it", Namespace: "a", Labels: map[string]string{"k": "v"}}

// all makes a request of each method of a resource.
func all[T, L any](ctx context.Context, r Resource[T, L], object T) {
	seconds, uid, version := int64(7), types.UID("u"), "7"
	opts := metav1.ListOptions{LabelSelector: "a=b", FieldSelector: "c=d", ResourceVersion: "9", TimeoutSeconds: &seconds, Limit: 3, Continue: "x"}
	_, _ = r.Create(ctx, object, metav1.CreateOptions{FieldManager: "m"})
	_, _ = r.Update(ctx, object, metav1.UpdateOptions{DryRun: []string{"All"}})
	_ = r.Delete(ctx, "it", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
	_, _ = r.Get(ctx, "it", metav1.GetOptions{ResourceVersion: "8"})
	_, _ = r.List(ctx, opts)
	_, _ = r.Watch(ctx, opts)
	_, _ = r.Patch(ctx, "it", types.StrategicMergePatchType, []byte(`{"a":1}`), metav1.PatchOptions{FieldManager: "m"}, "status")
}

// An echo notes requests. What is posted or put it answers with, anything else isn't there.
type echo struct {
	config *rest.Config
	asked  []string
}

func newEcho(t *testing.T, config rest.Config) *echo {
	e := &echo{config: &config}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var headers []string
		for name, values := range r.Header {
			headers = append(headers, name+" "+strings.Join(values, ","))
		}
		slices.Sort(headers)
		e.asked = append(e.asked, fmt.Sprintf("%s %s\n%s\n%q", r.Method, r.URL, strings.Join(headers, "\n"), body))
		if r.Method != http.MethodPost && r.Method != http.MethodPut {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	config.Host, config.QPS = server.URL, -1
	return e
}
