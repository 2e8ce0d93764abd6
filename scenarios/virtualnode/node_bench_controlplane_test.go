//go:build controlplane

package virtualnode_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

const (
	aliveNodes  = 1000
	aliveWindow = 40 * time.Second // four renewals of each lease
)

// A thousand nodes with leases of 40 s on a real API server, with the options that many nodes want: how many are
// registered in a second; then, in forty quiet seconds, what they burn, what the process weighs, and how old a lease gets
// until it is renewed.
func BenchmarkNodesAlive(b *testing.B) {
	for b.Loop() {
		ctx, cancel := context.WithTimeout(klog.NewContext(b.Context(), klog.Logger{}), 5*time.Minute)
		cluster := testcluster.Shared(b)
		client := kubernetes.NewForConfigOrDie(fast(cluster.Config()))
		factory := informers.NewSharedInformerFactory(client, 0)
		lister := factory.Core().V1().Nodes().Lister()
		factory.Start(ctx.Done())
		leases := client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
		began := time.Now()
		controllers := make([]*virtualnode.NodeController, aliveNodes)
		for i := range controllers {
			node := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("alive-%d", i), Labels: map[string]string{"bench": "alive"}},
				Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
					{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: metav1.Now()},
					{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()},
				}},
			}
			c, err := virtualnode.NewNodeController(virtualnode.NaiveNodeProvider{}, node, client.CoreV1().Nodes(),
				virtualnode.WithNodeEnableLeaseV1(leases, 0), virtualnode.WithNodeLister(lister),
				virtualnode.WithNodeStatusReportInterval(5*time.Minute))
			if err != nil {
				b.Fatal(err)
			}
			controllers[i] = c
			go func() { _ = c.Run(ctx) }()
		}
		for _, c := range controllers {
			select {
			case <-c.Ready():
			case <-c.Done():
				b.Fatal(c.Err())
			}
		}
		b.ReportMetric(aliveNodes/time.Since(began).Seconds(), "nodes/s")

		quiet, burnt := time.Now(), burned(b)
		tick := time.NewTicker(aliveWindow / 8)
		oldest := time.Duration(0)
		for range 8 {
			<-tick.C
			list, err := leases.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
			if err != nil {
				b.Fatal(err)
			}
			for _, lease := range list.Items {
				oldest = max(oldest, time.Since(lease.Spec.RenewTime.Time))
			}
		}
		tick.Stop()
		b.ReportMetric((burned(b)-burnt).Seconds()/time.Since(quiet).Seconds(), "cores")
		b.ReportMetric(oldest.Seconds(), "oldest-lease-s")
		b.ReportMetric(resident(b), "resident-MB")
		cancel()
		for _, c := range controllers {
			<-c.Done()
		}
		factory.Shutdown()
		background := context.Background()
		all := metav1.ListOptions{LabelSelector: "bench=alive"}
		if err := cluster.Client().CoreV1().Nodes().DeleteCollection(background, metav1.DeleteOptions{}, all); err != nil {
			b.Fatal(err)
		}
		if err := cluster.Client().CoordinationV1().Leases(corev1.NamespaceNodeLease).DeleteCollection(background, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// resident is the memory of this process that isn't swapped out, in MB, as /proc says.
func resident(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kilobytes) / 1000
}
