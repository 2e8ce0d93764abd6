package live

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
)

// A kubelet sees the Node that it has registered, by its UID.
func TestOwnNode(t *testing.T) {
	ctx := t.Context()
	node := func(uid types.UID, label string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: uid, Labels: map[string]string{Label: label}}}
	}
	nodes := fake.NewClientset(node("theirs", "")).CoreV1().Nodes()
	own := &ownNode{Resource: nodes, label: "surge"}
	see := func() error { _, err := own.Get(ctx, "n", metav1.GetOptions{}); return err }
	remove := func() {
		t.Helper()
		if err := nodes.Delete(ctx, "n", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := see(); !apierrors.IsForbidden(err) {
		t.Errorf("before it registers: %v, want a refusal of somebody's node", err)
	}
	remove()
	if err := see(); !apierrors.IsNotFound(err) {
		t.Errorf("without a node: %v", err)
	}
	if _, err := own.Create(ctx, node("ours", "surge"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := see(); err != nil {
		t.Errorf("its own: %v", err)
	}
	// Who takes the label away doesn't take the node away.
	if _, err := own.Patch(ctx, "n", types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := see(); err != nil {
		t.Errorf("its own, without the label: %v", err)
	}
	remove()
	if _, err := nodes.Create(ctx, node("another", "surge"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := see(); !apierrors.IsNotFound(err) {
		t.Errorf("another one under the name: %v, want none found", err)
	}
	if _, err := own.mine(node("another", "surge"), nil); !apierrors.IsNotFound(err) {
		t.Errorf("another one in the cache: %v, want none found", err)
	}
}
