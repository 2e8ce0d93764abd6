//go:build controlplane

package virtualnode_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

// A namespaceFixture is a namespace of a real API server with one PodController over a mock provider, for pods of one node.
type namespaceFixture struct {
	t          testing.TB
	ctx        context.Context
	cluster    *testcluster.Cluster
	admin      kubernetes.Interface
	namespace  string
	node       string
	provider   *virtualnode.MockProvider
	controller *virtualnode.PodController
	cancel     context.CancelFunc
	ended      chan error
}

var grounds atomic.Int32

// newGround makes a namespace; nothing runs yet.
func newGround(t testing.TB) *namespaceFixture {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	t.Cleanup(cancel)
	cluster := testcluster.Shared(t)
	leavesNothing(t)
	name := fmt.Sprintf("pods-%d", grounds.Add(1))
	g := &namespaceFixture{
		t: t, ctx: klog.NewContext(ctx, klog.Logger{}), cluster: cluster, admin: cluster.Client(), namespace: name, node: name,
		provider: virtualnode.NewMockProvider(nil), ended: make(chan error, 1),
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := g.admin.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// A resize is refused for pods of nodes that aren't there, or are too small.
	size := g.provider.Capacity()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Capacity: size, Allocatable: size}}
	if _, err := g.admin.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.admin.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return g
}

// run starts a controller that writes with one configuration and reads with the administrator's. It ends with the test.
func (g *namespaceFixture) run(config *rest.Config, change func(*virtualnode.PodControllerConfig)) *namespaceFixture {
	g.t.Helper()
	client := kubernetes.NewForConfigOrDie(config)
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(g.cluster.Config()), 0)
	cfg := virtualnode.PodControllerConfig{
		PodClient: client.CoreV1(), PodInformer: factory.Core().V1().Pods(), EventRecorder: &record.FakeRecorder{},
		Provider: g.provider, SkipEnvironment: true, PodEventFilterFunc: virtualnode.FilterPodsForNodeName(g.node),
	}
	if change != nil {
		change(&cfg)
	}
	controller, err := virtualnode.NewPodController(cfg)
	if err != nil {
		g.t.Fatal(err)
	}
	g.controller = controller
	ctx, cancel := context.WithCancel(g.ctx)
	informing, stop := context.WithCancel(context.Background())
	g.cancel = cancel
	cfg.PodInformer.Informer()
	factory.Start(informing.Done())
	go func() { g.ended <- controller.Run(ctx, 8) }()
	g.t.Cleanup(func() {
		cancel()
		<-controller.Done()
		stop()
		factory.Shutdown()
	})
	return g
}

// ready waits until the controller is.
func (g *namespaceFixture) ready() *namespaceFixture {
	g.t.Helper()
	select {
	case <-g.controller.Ready():
	case <-g.controller.Done():
		g.t.Fatal(g.controller.Err())
	case <-g.ctx.Done():
		g.t.Fatal("the controller isn't ready in time")
	}
	return g
}

// stop ends the controller and returns what Run returned.
func (g *namespaceFixture) stop() error {
	g.cancel()
	return <-g.ended
}

// pod is bound to the ground's node.
func (g *namespaceFixture) pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName: g.node,
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example/app:1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: milli(100)}},
			}},
		},
	}
}

func (g *namespaceFixture) create(name string) *corev1.Pod {
	g.t.Helper()
	pod, err := g.admin.CoreV1().Pods(g.namespace).Create(g.ctx, g.pod(name), metav1.CreateOptions{})
	if err != nil {
		g.t.Fatal(err)
	}
	return pod
}

// get is the pod in the API; nil if it isn't there.
func (g *namespaceFixture) get(name string) *corev1.Pod {
	pod, err := g.admin.CoreV1().Pods(g.namespace).Get(g.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return pod
}

// until waits for a condition of a pod in the API; the pod is nil where there is none.
func (g *namespaceFixture) until(what, name string, holds func(*corev1.Pod) bool) *corev1.Pod {
	g.t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		pod := g.get(name)
		if g.ctx.Err() == nil && holds(pod) {
			return pod
		}
		select {
		case <-g.ctx.Done():
			g.t.Fatalf("waited in vain: %s: pod %v", what, pod)
		case <-ticker.C:
		}
	}
}

// running waits until the pod runs.
func (g *namespaceFixture) running(name string) *corev1.Pod {
	g.t.Helper()
	return g.until("a running pod", name, func(p *corev1.Pod) bool { return p != nil && p.Status.Phase == corev1.PodRunning })
}

// gone waits until the pod is out of the API.
func (g *namespaceFixture) gone(name string) {
	g.t.Helper()
	g.until("the pod's removal", name, func(p *corev1.Pod) bool { return p == nil })
}

// held is the provider's pod of that name; nil if there is none.
func (g *namespaceFixture) held(name string) *corev1.Pod {
	pod, err := g.provider.GetPod(g.ctx, g.namespace, name)
	if err != nil {
		return nil
	}
	return pod
}

// leavesNothing fails the test if a goroutine outlives what it has started. Idle connections of clients may.
func leavesNothing(t testing.TB) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		err := goleak.Find(before,
			goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
			goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
			goleak.IgnoreAnyFunction("net/http/internal/http2.(*clientConnReadLoop).run"),
			goleak.IgnoreAnyFunction("golang.org/x/net/http2.(*clientConnReadLoop).run"),
			// A restarted API server outlives the test that restarted it.
			goleak.IgnoreAnyFunction("sigs.k8s.io/controller-runtime/pkg/internal/testing/process.(*State).Start.func1"),
		)
		if err != nil {
			t.Errorf("left behind: %v", err)
		}
	})
}
