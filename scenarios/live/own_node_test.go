package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
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

// A kubelet whose conditions are older than its Node, because the server was away or had others to register, writes its status once: another
// client's change of the Node is no reason to write it again.
func TestFirstStatusIsWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		kube := fake.NewClientset()
		ks := newKubelets(faked(kube), 10*time.Second, 1, func(err error) { t.Error(err) })
		ks.ctx, ks.label, ks.nodes = ctx, "surge", corev1listers.NewNodeLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)) // an empty cache: the server is asked
		ready := make(chan struct{})
		ks.register(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{Label: "surge"}},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()},
			}},
		}, ready)
		<-time.After(time.Minute)
		close(ready)
		synctest.Wait()
		is, err := kube.CoreV1().Nodes().Get(ctx, "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if c := is.Status.Conditions[0]; !c.LastTransitionTime.Equal(&c.LastHeartbeatTime) {
			t.Errorf("found the condition %+v, want it to be of the moment at which the Node came", c)
		}
		is.Annotations["theirs"], is.ResourceVersion = "1", "2"
		if _, err := kube.CoreV1().Nodes().Update(ctx, is, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		for _, a := range kube.Actions() {
			if a.Matches("patch", "nodes") {
				t.Errorf("found the patch %s, want none", a.(clienttesting.PatchAction).GetPatch())
			}
		}
		end()
		ks.close()
	})
}
