package kubelet_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

func discard(timeline.Event) error { return nil }

// BenchmarkKubeletPodLife is the whole life of a pod on its kubelet, from its binding
// to its deletion: about six events and six writes. The limit that a cluster of
// 450,000 pods sets is 15 µs.
func BenchmarkKubeletPodLife(b *testing.B) {
	r := newKubeletRig(b, rigOptions{sink: discard, jitter: 100})
	_, n := r.seed()
	t := web()
	b.ReportAllocs()
	for i := range b.N {
		p := r.pod("web-"+strconv.Itoa(i), n.Name, t)
		r.run(2 * time.Minute)
		r.API.DeletePod(p, kube.OwnGrace)
		r.run(time.Minute)
		if !p.Gone() {
			b.Fatal("the pod is still there")
		}
	}
}

// BenchmarkKubeletJoin is a machine from its launch until its node has been ready for a
// while.
func BenchmarkKubeletJoin(b *testing.B) {
	r := newKubeletRig(b, rigOptions{sink: discard, jitter: 100})
	b.ReportAllocs()
	for range b.N {
		i := r.launch()
		r.run(3 * time.Minute)
		r.Cloud.Kill(i, false)
		if n := r.API.Node(i.Name); n != nil {
			r.API.DeleteNode(n)
		}
	}
}

// BenchmarkKubeletSeed is a node at rest and 30 pods that run on it.
func BenchmarkKubeletSeed(b *testing.B) {
	r := newKubeletRig(b, rigOptions{sink: discard, jitter: 100})
	t := web()
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range b.N {
		_, n := r.seed()
		for j := range 30 {
			r.runningPod(fmt.Sprintf("web-%d-%d", i, j), n.Name, t)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/float64(b.N)/30, "heapB/pod")
	runtime.KeepAlive(r)
}

// BenchmarkKubeletRest is an hour of a hundred nodes at rest.
func BenchmarkKubeletRest(b *testing.B) {
	r := newKubeletRig(b, rigOptions{sink: discard, jitter: 100})
	for range 100 {
		r.seed()
	}
	for range b.N {
		r.run(time.Hour)
	}
}
