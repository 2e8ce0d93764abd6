package controller

import (
	"context"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
)

// Many updates, with and without a lease: what Virtual Kubelet's own tests say of its NodeController (node/node_test.go,
// TestNodeRun).
func TestRun(t *testing.T) {
	t.Run("with a lease", func(t *testing.T) { testRun(t, true) })
	t.Run("without a lease", func(t *testing.T) { testRun(t, false) })
}

func testRun(t *testing.T, lease bool) {
	ctx := patient(t)
	client := fake.NewSimpleClientset()
	nodes, leases := client.CoreV1().Nodes(), client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	options := []NodeControllerOpt{WithNodePingInterval(time.Millisecond), WithNodeStatusUpdateInterval(time.Millisecond)}
	if lease {
		options = append(options, WithNodeEnableLeaseV1WithRenewInterval(leases, 40, time.Millisecond))
	}
	watchNodes, watchLeases := watching(t, nodes.Watch), watching(t, leases.Watch)
	provider := NewNaiveNodeProvider()
	stop := running(ctx, t, must(t, provider, node("virtual"), nodes, options...))

	nodeUpdates, leaseUpdates := 0, 0
	var renewed time.Time
	for range 50 {
		select {
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		case e := <-watchNodes.ResultChan():
			if e.Object.(*corev1.Node).Name != "virtual" {
				t.Fatalf("found an event of another node: %v", e)
			}
			nodeUpdates++
		case e := <-watchLeases.ResultChan():
			l := e.Object.(*coordinationv1.Lease)
			if *l.Spec.HolderIdentity != "virtual" || l.Name != "virtual" || l.OwnerReferences[0].Name != "virtual" {
				t.Fatalf("found the lease %+v, want the node's", l)
			}
			if !l.Spec.RenewTime.After(renewed) {
				t.Errorf("found the renew time %s after %s, want it to rise", l.Spec.RenewTime, renewed)
			}
			renewed = l.Spec.RenewTime.Time
			leaseUpdates++
		}
	}
	if nodeUpdates < 10 {
		t.Errorf("found %d events of the node among 50, want at least 10", nodeUpdates)
	}
	if lease && leaseUpdates < 10 || !lease && leaseUpdates > 0 {
		t.Errorf("found %d events of leases among 50", leaseUpdates)
	}

	watchLeases.Stop() // a fake watch that nobody reads panics when it is full
	pushed := live(ctx, t, nodes)
	pushed.Status.Conditions = append(pushed.Status.Conditions, corev1.NodeCondition{
		Type: "UPDATED", LastTransitionTime: metav1.Now().Rfc3339Copy(),
	})
	if err := provider.UpdateStatus(ctx, pushed); err != nil {
		t.Fatal(err)
	}
	awaited(ctx, t, watchNodes, func(n *corev1.Node) bool { return conditionOf(n, "UPDATED") != nil })
	if err := stop(); err != nil {
		t.Errorf("Run: %v, want nil at the end of its context", err)
	}
}

// The handler learns that the node is gone, and may end it all.
func TestErrorHandler(t *testing.T) {
	ctx, cancel := context.WithCancel(patient(t))
	nodes := fake.NewSimpleClientset().CoreV1().Nodes()
	provider := NewNaiveNodeProvider()
	c := must(t, provider, node("virtual"), nodes, WithNodeStatusUpdateErrorHandler(func(context.Context, error) error {
		cancel()
		return nil
	}))
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	<-c.Ready()
	if err := nodes.Delete(ctx, "virtual", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := provider.UpdateStatus(ctx, node("virtual")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run: %v, want nil", err)
	}
}

// What others added survives, what the provider gave up goes.
func TestMerge(t *testing.T) {
	ctx := patient(t)
	before := node("virtual")
	before.Annotations = map[string]string{"before": "start"}
	nodes := fake.NewSimpleClientset(before).CoreV1().Nodes()
	events := watching(t, nodes.Watch)
	provider := NewNaiveNodeProvider()
	given := node("virtual")
	given.Annotations = map[string]string{"own": "kept", "dropped": "soon"}
	given.Labels = map[string]string{"own": "kept", "dropped": "soon"}
	given.Status.Conditions = []corev1.NodeCondition{{Type: "Own"}, {Type: "Dropped"}}
	running(ctx, t, must(t, provider, given, nodes))

	foreign := live(ctx, t, nodes)
	foreign.Annotations["foreign"], foreign.Labels["foreign"] = "stays", "stays"
	foreign.Status.Conditions = append(foreign.Status.Conditions, corev1.NodeCondition{Type: "Foreign"})
	if _, err := nodes.Update(ctx, foreign, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	pushed := given.DeepCopy()
	delete(pushed.Annotations, "dropped")
	delete(pushed.Labels, "dropped")
	pushed.Status.Conditions = []corev1.NodeCondition{{Type: "Own"}, {Type: "New"}}
	if err := provider.UpdateStatus(ctx, pushed); err != nil {
		t.Fatal(err)
	}
	got := awaited(ctx, t, events, func(n *corev1.Node) bool { return conditionOf(n, "New") != nil })
	for _, key := range []string{"before", "own", "foreign"} {
		if got.Annotations[key] == "" {
			t.Errorf("annotation %s is gone: %v", key, got.Annotations)
		}
	}
	if _, is := got.Annotations["dropped"]; is || got.Labels["dropped"] != "" || got.Labels["foreign"] != "stays" {
		t.Errorf("found annotations %v, labels %v, want all but what was dropped", got.Annotations, got.Labels)
	}
	for kind, want := range map[corev1.NodeConditionType]bool{"Own": true, "Foreign": true, "Dropped": false} {
		if is := conditionOf(got, kind) != nil; is != want {
			t.Errorf("condition %s: there is %v, want %v", kind, is, want)
		}
	}
}

func awaited(ctx context.Context, t *testing.T, events watch.Interface, right func(*corev1.Node) bool) *corev1.Node {
	t.Helper()
	for {
		select {
		case <-ctx.Done():
			t.Fatalf("the node didn't become what was awaited: %v", context.Cause(ctx))
		case e := <-events.ResultChan():
			if n, ok := e.Object.(*corev1.Node); ok && e.Type != watch.Deleted && right(n) {
				return n
			}
		}
	}
}
