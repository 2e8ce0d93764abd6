//go:build unix

package noderoll_test

import (
	"fmt"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	ktesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/noderoll"
)

// The large cluster of the benchmarks.
const (
	benchNodes    = 5000
	benchPods     = 150000
	benchDraining = 5
)

func benchNode(i int) *corev1.Node {
	n := kubeNode(fmt.Sprintf("ip-10-%d-%d-%d.ec2.internal", i/65536, i/256%256, i%256), oldImage, true)
	n.Labels["kubernetes.io/hostname"] = n.Name
	n.Labels["topology.kubernetes.io/zone"] = "us-east-1a"
	n.ResourceVersion = "1"
	if i < benchDraining {
		cordoned(n)
	}
	return n
}

func benchPod(i int) corev1.Pod {
	p := kubePod(fmt.Sprintf("web-%d-7c6f5d-%05d", i/30, i), benchNode(i%benchNodes).Name)
	p.UID = types.UID(fmt.Sprintf("%08d-2013-4ed4-9498-997ab7f94f41", i))
	p.Labels = map[string]string{"app": fmt.Sprint("web-", i/30), "pod-template-hash": "7c6f5d"}
	p.Spec.Containers = []corev1.Container{{Name: "web", Image: "registry.example.com/web:1.2.3"}}
	return *p
}

// benchCluster is a clientset that lists the large cluster and whose node watch
// is in the hands of the caller.
func benchCluster(b *testing.B) (*fake.Clientset, *watch.FakeWatcher) {
	b.Helper()
	nodes := &corev1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for i := range benchNodes {
		nodes.Items = append(nodes.Items, *benchNode(i))
	}
	pods := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for i := range benchPods {
		pods.Items = append(pods.Items, benchPod(i))
	}
	c := fake.NewSimpleClientset()
	c.ReactionChain = nil
	c.AddReactor("list", "nodes", fixed(nodes))
	c.AddReactor("list", "pods", fixed(pods))
	c.AddReactor("list", "events", fixed(&corev1.EventList{}))
	w := watch.NewFake()
	c.WatchReactionChain = nil
	c.AddWatchReactor("nodes", func(ktesting.Action) (bool, watch.Interface, error) { return true, w, nil })
	c.AddWatchReactor("*", func(ktesting.Action) (bool, watch.Interface, error) { return true, watch.NewFake(), nil })
	return c, w
}

func fixed(list kruntime.Object) ktesting.ReactionFunc {
	return func(ktesting.Action) (bool, kruntime.Object, error) { return true, list, nil }
}

// BenchmarkSnapshotAfterOneChange measures what a live panel pays for each picture:
// a node changes, then KubeObserver.Snapshot in informer mode and
// Tracker.Observe. To reach: 0.3 ms. Beside it the peer, which walks the
// listers of shared informers and fills a map each time.
func BenchmarkSnapshotAfterOneChange(b *testing.B) {
	b.Run("nodesim", func(b *testing.B) {
		c, w := benchCluster(b)
		o := noderoll.NewKubeObserver(c, group, newImage)
		if err := o.StartInformers(b.Context()); err != nil {
			b.Fatal(err)
		}
		defer o.StopInformers()
		c.ReactionChain = nil // a server's own copy of the pods is no part of the cost
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		defer func() { b.ReportMetric(float64(mem.HeapAlloc)/(1<<20), "heap-MB") }()
		tr := noderoll.NewTracker()
		nodes := [2]*corev1.Node{benchNode(2500), benchNode(2500)}
		nodes[0].Status.Conditions[0].Status = corev1.ConditionFalse
		b.ReportAllocs()
		defer reportCPU(b)()
		for i := 0; b.Loop(); i++ {
			w.Modify(nodes[i%2])
			s, err := o.Snapshot(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			tr.Observe(s)
			if s.Total != benchNodes || s.Draining != benchDraining || s.Nodes[0].Pods != benchPods/benchNodes {
				b.Fatalf("%d nodes, %d draining, %d pods on the first", s.Total, s.Draining, s.Nodes[0].Pods)
			}
		}
	})
	b.Run("peer", func(b *testing.B) {
		p := newPeer()
		b.ReportAllocs()
		defer reportCPU(b)()
		for i := 0; b.Loop(); i++ {
			n := benchNode(2500)
			if i%2 == 0 {
				n.Status.Conditions[0].Status = corev1.ConditionFalse
			}
			if err := p.nodeStore.Update(n); err != nil {
				b.Fatal(err)
			}
			if s := p.snapshot(); s.Total != benchNodes || s.Draining != benchDraining || s.Nodes[0].Pods != benchPods/benchNodes {
				b.Fatalf("%d nodes, %d draining, %d pods on the first", s.Total, s.Draining, s.Nodes[0].Pods)
			}
		}
	})
}

// peer does what an informer-backed observer usually does: ask the listers for
// everything, each time.
type peer struct {
	nodeStore cache.Indexer
	nodes     corelisters.NodeLister
	pods      corelisters.PodLister
	totals    map[string]int
	tracked   naiveTracker
}

func newPeer() *peer {
	nodes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for i := range benchNodes {
		_ = nodes.Add(benchNode(i))
	}
	for i := range benchPods {
		p := benchPod(i)
		_ = pods.Add(&p)
	}
	return &peer{nodes, corelisters.NewNodeLister(nodes), corelisters.NewPodLister(pods), map[string]int{}, naiveTracker{}}
}

func (p *peer) snapshot() noderoll.Snapshot {
	nodes, _ := p.nodes.List(labels.SelectorFromSet(labels.Set{noderoll.LabelNodegroup: group}))
	var s noderoll.Snapshot
	byName := map[string]noderoll.NodeView{}
	for _, o := range nodes {
		n := noderoll.NodeFrom(o)
		v := noderoll.NodeView{Name: n.Name, UID: n.UID, Ready: n.Ready == "True", Phase: noderoll.Classify(&n, false, nil)}
		v.OnTarget = n.Labels[noderoll.LabelImage] == newImage
		s.Nodes = append(s.Nodes, v)
	}
	pods, _ := p.pods.List(labels.Everything())
	on := map[string]int{}
	for _, o := range pods {
		if pod := noderoll.PodFrom(o); pod.Evictable() {
			on[pod.Node]++
		}
	}
	sort.Slice(s.Nodes, func(i, j int) bool { return s.Nodes[i].Name < s.Nodes[j].Name })
	for i := range s.Nodes {
		if v := &s.Nodes[i]; v.Phase == noderoll.PhaseDraining {
			if p.totals[v.Name] == 0 {
				p.totals[v.Name] = on[v.Name]
			}
			v.Pods, v.PodsTotal = on[v.Name], p.totals[v.Name]
		}
		byName[s.Nodes[i].Name] = s.Nodes[i]
	}
	s.Tally()
	p.tracked.observe(byName)
	return s
}

// heartbeatFeed is a feed of 100 nodes and 3,000 pods, five of them draining, and
// the heartbeats of its nodes.
func heartbeatFeed(verbose bool) (*noderoll.Feed, []noderoll.Node) {
	f := noderoll.NewFeed(noderoll.FeedOptions{Verbose: verbose})
	var beats []noderoll.Node
	for i := range 100 {
		n := noderoll.NodeFrom(benchNode(i))
		beats = append(beats, n)
		f.SetNode(0, n)
	}
	for i := range 3000 {
		p := benchPod(i)
		p.Spec.NodeName = beats[i%100].Name
		f.SetPod(0, noderoll.PodFrom(&p))
	}
	for _, resource := range []string{noderoll.Nodes, noderoll.Pods, noderoll.Budgets, noderoll.Events} {
		f.Synced(0, resource)
	}
	return f, beats
}

// BenchmarkFeed measures what one event of a tape costs beyond reading it. To reach:
// 1.5 µs for a heartbeat that changes nothing visible.
func BenchmarkFeed(b *testing.B) {
	b.Run("heartbeat", func(b *testing.B) {
		f, beats := heartbeatFeed(false)
		b.ReportAllocs()
		at := time.Duration(0)
		for i := 0; b.Loop(); i++ {
			at += time.Millisecond
			if out := f.SetNode(at, beats[i%len(beats)]); len(out) != 0 {
				b.Fatal(out)
			}
		}
	})
	b.Run("pod status", func(b *testing.B) {
		f, beats := heartbeatFeed(false)
		o := benchPod(50)
		o.Spec.NodeName = beats[50].Name
		p := noderoll.PodFrom(&o)
		b.ReportAllocs()
		for b.Loop() {
			if out := f.SetPod(time.Second, p); len(out) != 0 {
				b.Fatal(out)
			}
		}
	})
	b.Run("transition", func(b *testing.B) {
		f, beats := heartbeatFeed(true)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			n := beats[50]
			n.Unschedulable = i%2 == 0
			if out := f.SetNode(time.Second, n); len(out) != 1 {
				b.Fatal(out)
			}
		}
	})
}

func BenchmarkEntry(b *testing.B) {
	e := noderoll.Entry{At: 92412 * time.Millisecond, Kind: noderoll.EvtDraining, Node: "ip-10-0-1-10"}
	var dst []byte
	b.Run("text", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = noderoll.TextFormat{}.Append(dst[:0], e)
		}
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = e.AppendJSON(dst[:0])
		}
	})
	if !strings.Contains(string(dst), "draining") {
		b.Fatalf("got %s", dst)
	}
}
