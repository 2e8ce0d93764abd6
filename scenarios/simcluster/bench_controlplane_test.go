//go:build controlplane

package simcluster_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// BenchmarkStartOfPeer is what envtest takes from nothing to the first answer: etcd and kube-apiserver, without nodes and
// without controllers. Beside BenchmarkStart.
func BenchmarkStartOfPeer(b *testing.B) {
	for b.Loop() {
		c, err := testcluster.Start(testcluster.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Client().CoreV1().Nodes().List(b.Context(), metav1.ListOptions{}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := c.Stop(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// peer is an API server until the benchmark's end.
func peer(b *testing.B) *testcluster.Cluster {
	b.Helper()
	c, err := testcluster.Start(testcluster.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Stop(); err != nil {
			b.Error(err)
		}
	})
	return c
}

// BenchmarkDrainOfPeer is BenchmarkDrain on a real control plane whose kubelets end a pod a second after its deletion:
// three nodes, of which each runs 30 pods.
func BenchmarkDrainOfPeer(b *testing.B) {
	c := peer(b)
	if err := c.StartControllers(); err != nil {
		b.Fatal(err)
	}
	ctx, k := b.Context(), c.Client()
	if _, err := k.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	g := testcluster.Group{}
	if err := g.JoinAll(ctx, k, 1, 3, "1"); err != nil {
		b.Fatal(err)
	}
	web := testcluster.Workload{Namespace: "shop", CPU: "50m", Replicas: 90}
	if err := web.Create(ctx, k, g); err != nil {
		b.Fatal(err)
	}
	scale := func(replicas int32) {
		web.Replicas = replicas
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
		if _, err := k.AppsV1().Deployments("shop").Patch(ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			b.Fatal(err)
		}
		if err := web.AtRest(ctx, k); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		b.StopTimer()
		scale(0)
		scale(90) // and so evenly over the nodes
		node := fullest(b, k)
		pods := podsOn(b, k, node, true)
		b.ReportMetric(float64(len(pods)), "pods")
		b.StartTimer()
		drained(b, k, node, pods, func(d time.Duration) {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
		})
		b.StopTimer()
		if _, err := k.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, []byte(`{"spec":{"unschedulable":false}}`), metav1.PatchOptions{}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// fullest is the node with the most pods.
func fullest(b *testing.B, k kubernetes.Interface) (name string) {
	b.Helper()
	list, err := k.CoreV1().Nodes().List(b.Context(), metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	most := -1
	for _, n := range list.Items {
		if pods := len(podsOn(b, k, n.Name, true)); pods > most {
			name, most = n.Name, pods
		}
	}
	return name
}

// BenchmarkWritesOfPeer puts the writes of BenchmarkWrites to kube-apiserver, one after the other.
func BenchmarkWritesOfPeer(b *testing.B) {
	c := peer(b)
	sim := open(b, fleet(100, 1000))
	defer closed(b, sim)
	from := inMemory(b, sim)
	config := c.Config()
	config.QPS = -1
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	k := kubernetes.NewForConfigOrDie(config)
	borrow(b, from, k)
	for name, write := range writesOf(b, k) {
		b.Run(name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if err := write(n); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

// borrow puts the first node and the first pod of a simulated cluster into a real one.
func borrow(b *testing.B, from, to kubernetes.Interface) {
	b.Helper()
	ctx := b.Context()
	node, err := from.CoreV1().Nodes().Get(ctx, firstNode(b, from), metav1.GetOptions{})
	if err != nil {
		b.Fatal(err)
	}
	pods, err := from.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{LabelSelector: "app=web", Limit: 1})
	if err != nil || len(pods.Items) == 0 {
		b.Fatal(len(pods.Items), err)
	}
	pod := &pods.Items[0]
	for _, m := range []*metav1.ObjectMeta{&node.ObjectMeta, &pod.ObjectMeta} {
		m.ResourceVersion, m.UID, m.OwnerReferences = "", "", nil
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := to.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	for _, namespace := range []string{"shop", "default"} {
		if _, err := to.CoreV1().ServiceAccounts(namespace).Create(ctx, account.DeepCopy(), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			b.Fatal(err)
		}
	}
	if _, err := to.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	pod.Spec.Priority = nil
	if _, err := to.CoreV1().Pods("shop").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
}
