package virtualnode

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// patient is a context that no wait outlasts.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func must(t testing.TB, p NodeProvider, node *corev1.Node, nodes v1.NodeInterface, options ...NodeControllerOpt) *NodeController {
	t.Helper()
	c, err := NewNodeController(p, node, nodes, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// running runs a controller, waits until it is ready, and returns what stops it and says how it ended.
func running(ctx context.Context, t testing.TB, c *NodeController) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	go func() { _ = c.Run(ctx) }()
	stop = func() error {
		cancel()
		<-c.Done()
		return c.Err()
	}
	t.Cleanup(func() { _ = stop() })
	select {
	case <-c.Ready():
	case <-c.Done():
		t.Fatalf("not ready: %v", c.Err())
	}
	return stop
}

func watching(t testing.TB, watch func(context.Context, metav1.ListOptions) (watch.Interface, error)) watch.Interface {
	t.Helper()
	w, err := watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

func live(ctx context.Context, t testing.TB, nodes v1.NodeInterface) *corev1.Node {
	t.Helper()
	n, err := nodes.Get(ctx, "virtual", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func condition(n *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	if i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == kind }); i >= 0 {
		return &n.Status.Conditions[i]
	}
	return nil
}
