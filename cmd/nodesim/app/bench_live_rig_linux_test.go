//go:build controlplane

package app

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/localcluster"
)

// benchNamespace is that of the pods that are counted.
const benchNamespace = "bench"

// A liveRig is a control plane and its watcher.
type liveRig struct {
	plane  *localcluster.ControlPlane
	client kubernetes.Interface
	nodes  *objectCounter // Ready
	pods   *objectCounter // Running
	leases *leaseWatch
	ended  <-chan struct{} // of the program that keeps the nodes
	stop   func()
}

// newLiveRig starts a control plane, and has everything on it seen that is counted.
func newLiveRig(ctx context.Context, tb testing.TB) *liveRig {
	tb.Helper()
	plane, err := localcluster.Start(ctx, localcluster.Options{Name: "bench", Log: tb.Output()})
	if err != nil {
		tb.Fatal(err)
	}
	config := plane.Config()
	config.QPS = -1
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		tb.Fatal(err)
	}
	r := &liveRig{plane: plane, client: client, nodes: newTurnout(), pods: newTurnout(), leases: newLeaseWatch()}
	watching, stop := context.WithCancel(ctx)
	all := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(bare))
	ours := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(bare), informers.WithNamespace(benchNamespace))
	beats := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(bare), informers.WithNamespace(corev1.NamespaceNodeLease))
	follow(tb, all.Core().V1().Nodes().Informer(), r.nodes.node)
	follow(tb, ours.Core().V1().Pods().Informer(), r.pods.pod)
	follow(tb, beats.Coordination().V1().Leases().Informer(), r.leases.lease)
	for _, f := range []informers.SharedInformerFactory{all, ours, beats} {
		f.Start(watching.Done())
		f.WaitForCacheSync(watching.Done())
	}
	var once sync.Once
	r.stop = func() {
		once.Do(func() {
			stop()
			for _, f := range []informers.SharedInformerFactory{all, ours, beats} {
				f.Shutdown()
			}
			if err := plane.Stop(); err != nil {
				tb.Error(err)
			}
		})
	}
	tb.Cleanup(r.stop)
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: benchNamespace}}, metav1.CreateOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	r.wait(ctx, tb, "the service account of the pods", func() bool {
		_, err := client.CoreV1().ServiceAccounts(benchNamespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	return r
}

// wait looks ten times a second whether something is so.
func (r *liveRig) wait(ctx context.Context, tb testing.TB, what string, so func() bool) {
	tb.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-r.plane.Done():
			tb.Fatal(r.plane.Err())
		case <-r.ended:
			tb.Fatalf("wait for %s: the program that keeps the nodes has ended", what)
		case <-ctx.Done():
			tb.Fatalf("wait for %s: %v: %d nodes are Ready, %d pods run", what, context.Cause(ctx), r.nodes.count(), r.pods.count())
		}
	}
}

// watchLeases looks for a while how old leases become.
func (r *liveRig) watchLeases(ctx context.Context, tb testing.TB, quiet time.Duration) {
	tb.Helper()
	end := time.Now().Add(quiet)
	r.wait(ctx, tb, "the end of the steady state", func() bool {
		r.leases.look(time.Now())
		return !time.Now().Before(end)
	})
}

// inParallel calls do with the numbers below n, sixteen at a time.
func inParallel(tb testing.TB, n int, do func(int) error) {
	tb.Helper()
	numbers := make(chan int)
	var working sync.WaitGroup
	for range 16 {
		working.Go(func() {
			for i := range numbers {
				if err := do(i); err != nil {
					tb.Error(err)
				}
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	working.Wait()
	if tb.Failed() {
		tb.FailNow()
	}
}

// createPods creates the pods, bound to the nodes in turns, and says how long that took.
func (r *liveRig) createPods(ctx context.Context, tb testing.TB, count int) time.Duration {
	tb.Helper()
	nodes := r.nodes.names()
	began := time.Now()
	r.pods.begin(began)
	inParallel(tb, count, func(i int) error {
		_, err := r.client.CoreV1().Pods(benchNamespace).Create(ctx, benchPod(i, nodes[i%len(nodes)]), metav1.CreateOptions{})
		return err
	})
	return time.Since(began)
}

func benchPod(i int, node string) *corev1.Pod {
	no := false
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-%05d", i), Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			NodeName: node, AutomountServiceAccountToken: &no, EnableServiceLinks: &no,
			Containers: []corev1.Container{{Name: "web", Image: "registry.example/web:1"}},
		},
	}
}
