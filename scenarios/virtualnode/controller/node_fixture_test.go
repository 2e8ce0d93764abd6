package controller

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// patient is a context that no wait outlasts.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
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

func conditionOf(n *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	if i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == kind }); i >= 0 {
		return &n.Status.Conditions[i]
	}
	return nil
}

// A fixture is a server, a provider whose pings a test decides, and the options of a controller between them. Its tests
// run in a bubble of testing/synctest, where no time passes but what they let pass.
type fixture struct {
	*server
	*NaiveNodeProviderV2
	client *kubernetes.Clientset
	ping   atomic.Pointer[func(context.Context) error]
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{server: newServer(), NaiveNodeProviderV2: NewNaiveNodeProvider()}
	f.client = f.server.client(t, runtime.ContentTypeProtobuf)
	f.pings(func(context.Context) error { return nil })
	return f
}

func (f *fixture) pings(ping func(context.Context) error) { f.ping.Store(&ping) }

func (f *fixture) Ping(ctx context.Context) error { return (*f.ping.Load())(ctx) }

func (f *fixture) leases() NodeControllerOpt {
	return WithNodeEnableLeaseV1(f.client.CoordinationV1().Leases(corev1.NamespaceNodeLease), 0)
}

// controller has no jitter, unless the options say otherwise.
func (f *fixture) controller(t testing.TB, node *corev1.Node, options ...NodeControllerOpt) *NodeController {
	return must(t, f, node, f.client.CoreV1().Nodes(), append([]NodeControllerOpt{WithNodeJitter(0)}, options...)...)
}

// pass lets a time pass in the bubble, and what is due happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// say has the provider notify, and what follows from that happen.
func (f *fixture) say(t testing.TB, node *corev1.Node) {
	t.Helper()
	if err := f.UpdateStatus(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func readyNode() *corev1.Node {
	n := node("virtual")
	n.Labels = map[string]string{"zone": "a"}
	n.Spec = corev1.NodeSpec{ProviderID: "virtual:///1", Taints: []corev1.Taint{{Key: "own", Value: "1", Effect: corev1.TaintEffectNoSchedule}}}
	n.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
		LastTransitionTime: metav1.NewTime(time.Now().Truncate(time.Second)),
	}}
	return n
}

// A list is filled by one goroutine and read by another one.
type list[T any] struct {
	mu    sync.Mutex
	items []T
}

func (l *list[T]) add(item T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, item)
}

func (l *list[T]) all() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.items)
}
