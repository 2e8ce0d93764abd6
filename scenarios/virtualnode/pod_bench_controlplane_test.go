//go:build controlplane

package virtualnode_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

const (
	benchPods  = 2000
	benchNodes = 200
)

// Two thousand pods of two hundred nodes, one controller, one informer: how many begin to run in a second, from the first
// creation to the last pod that the API shows Running; what the process burns for it, the creation of the pods included;
// and what a pod costs in memory once all is quiet: in the controller, its informer and the provider together.
func BenchmarkPodsRunning(b *testing.B) {
	for b.Loop() {
		g := newGround(b)
		ours := map[string]bool{}
		for i := range benchNodes {
			ours[fmt.Sprintf("%s-%d", g.node, i)] = true
		}
		config := fast(g.cluster.Config())
		empty := heap()
		factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, withoutManagedFields())
		running := allRunning(b, factory.Core().V1().Pods().Informer())
		informing, stop := context.WithCancel(g.ctx)
		g.run(config, func(cfg *virtualnode.PodControllerConfig) {
			cfg.PodInformer = factory.Core().V1().Pods()
			factory.Start(informing.Done())
			cfg.PodEventFilterFunc = func(_ context.Context, pod *corev1.Pod) bool { return ours[pod.Spec.NodeName] }
			cfg.SkipProviderEvents = true
		}).ready()
		began, burnt := time.Now(), burned(b)
		g.createMany(config)
		select {
		case <-running:
		case <-g.ctx.Done():
			b.Fatal("not all pods run in time")
		}
		took, cpu := time.Since(began), burned(b)-burnt
		b.ReportMetric(benchPods/took.Seconds(), "pods/s")
		b.ReportMetric(cpu.Seconds()/took.Seconds(), "cores")
		b.ReportMetric(float64(cpu.Microseconds())/benchPods, "cpu-µs/pod")
		b.ReportMetric(float64(int64(heap()-empty))/benchPods, "B/pod")
		if err := g.stop(); err != nil {
			b.Fatal(err)
		}
		stop()
		factory.Shutdown()
	}
}

// fast lifts a client's own limit and has it speak protobuf.
func fast(config *rest.Config) *rest.Config {
	config.QPS = -1
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	return config
}

// withoutManagedFields drops the notes on who wrote which field before a pod enters the cache.
func withoutManagedFields() informers.SharedInformerOption {
	return informers.WithTransform(func(object any) (any, error) {
		if pod, ok := object.(*corev1.Pod); ok {
			pod.ManagedFields = nil
		}
		return object, nil
	})
}

// createMany creates the pods over the nodes, from twenty goroutines.
func (g *namespaceFixture) createMany(config *rest.Config) {
	client := kubernetes.NewForConfigOrDie(config)
	numbers := make(chan int)
	var creating sync.WaitGroup
	for range 20 {
		creating.Go(func() {
			for i := range numbers {
				pod := g.pod(fmt.Sprintf("web-%d", i))
				pod.Spec.NodeName = fmt.Sprintf("%s-%d", g.node, i%benchNodes)
				if _, err := client.CoreV1().Pods(g.namespace).Create(g.ctx, pod, metav1.CreateOptions{}); err != nil {
					g.t.Error(err)
				}
			}
		})
	}
	for i := range benchPods {
		numbers <- i
	}
	close(numbers)
	creating.Wait()
}

// allRunning is closed when the informer has shown every pod Running.
func allRunning(b *testing.B, informer cache.SharedIndexInformer) <-chan struct{} {
	b.Helper()
	all, seen := make(chan struct{}), map[types.UID]bool{}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
		if pod := object.(*corev1.Pod); pod.Status.Phase == corev1.PodRunning && !seen[pod.UID] {
			if seen[pod.UID] = true; len(seen) == benchPods {
				close(all)
			}
		}
	}})
	if err != nil {
		b.Fatal(err)
	}
	return all
}

// burned is the CPU time of this process.
func burned(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// heap is what lives on it.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
