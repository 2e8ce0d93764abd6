package apiserver_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
)

// stuck is a server over the tape of a stuck drain, at a moment when the budget
// allows no disruption, and typed clients of it: one for each content type.
func stuck(t *testing.T, opts ...apiserver.Option) (p *replay.Player, clients map[string]kubernetes.Interface) {
	t.Helper()
	p, err := replay.NewPlayer(replay.File("../../examples/stuck-drain.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	s, err := apiserver.New(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	t.Cleanup(s.Close)
	clients = map[string]kubernetes.Interface{}
	for name, contentType := range map[string]string{"json": "application/json", "protobuf": "application/vnd.kubernetes.protobuf"} {
		config := &rest.Config{Host: web.URL, ContentConfig: rest.ContentConfig{ContentType: contentType}, QPS: -1}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		clients[name] = client
	}
	return p, clients
}

func TestWritesAreRecorded(t *testing.T) {
	var first string
	for _, name := range []string{"json", "protobuf"} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			record, failed := apiserver.WriteLines(&log)
			p, clients := stuck(t, apiserver.RecordWrites(record))
			if err := p.Seek(t.Context(), replay.End); err != nil {
				t.Fatal(err)
			}
			writeAll(t, clients[name])
			if err := failed(); err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = log.String()
				for _, want := range []string{`"verb":"patch","resource":"nodes"`, `"subresource":"eviction"`, `"code":429,"reason":"TooManyRequests"`, `"verb":"create"`} {
					if !bytes.Contains(log.Bytes(), []byte(want)) {
						t.Errorf("the log has no %s:\n%s", want, log.String())
					}
				}
			}
			if diff := cmp.Diff(first, log.String()); diff != "" {
				t.Errorf("the log differs by content type (-json +%s):\n%s", name, diff)
			}
		})
	}
}

// writeAll does what a drain does, and what a controller that reports does.
func writeAll(t *testing.T, c kubernetes.Interface) {
	t.Helper()
	ctx := context.Background()
	nodes, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil || len(nodes.Items) == 0 {
		t.Fatalf("list nodes: %d of them, %v", len(nodes.Items), err)
	}
	node := nodes.Items[0].Name
	got, err := c.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	if err != nil || !got.Spec.Unschedulable {
		t.Fatalf("cordon: %v, unschedulable %v", err, got.Spec.Unschedulable)
	}
	again, err := c.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if err != nil || again.Spec.Unschedulable != nodes.Items[0].Spec.Unschedulable {
		t.Fatalf("the tape has changed: %v, unschedulable %v", err, again.Spec.Unschedulable)
	}
	pods, err := c.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil || len(pods.Items) == 0 {
		t.Fatalf("list pods: %d of them, %v", len(pods.Items), err)
	}
	pod := &pods.Items[0]
	err = c.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}})
	if !apierrors.IsTooManyRequests(err) {
		t.Fatalf("evict: %v, want 429: the budget allows no disruption", err)
	}
	if _, err := c.CoreV1().Events(pod.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: "drained-"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name},
		Reason:         "Drained", Type: corev1.EventTypeNormal,
	}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("create an event: %v", err)
	}
	stale := nodes.Items[0].DeepCopy()
	stale.ResourceVersion = "1"
	if _, err := c.CoreV1().Nodes().Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Fatalf("update of an old version: %v, want a conflict", err)
	}
}

func TestWritesAreRefused(t *testing.T) {
	_, clients := stuck(t)
	_, err := clients["json"].CoreV1().Nodes().Patch(t.Context(), "any", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
	const want = `patch of nodes is not allowed: this is a replay of tape "stuck-drain": with --writes=record, or apiserver.RecordWrites, writes are taken and logged`
	if !apierrors.IsMethodNotSupported(err) || err.Error() != want {
		t.Errorf("found %v, want %s", err, want)
	}
}
