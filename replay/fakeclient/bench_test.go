package fakeclient

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	core "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

const benchEvents = 20_000

// benchTape is 100 nodes that change in turn.
func benchTape() []timeline.Event {
	var events []timeline.Event
	for i := range 100 {
		events = append(events, object(0, timeline.Added, "nodes", fmt.Sprint("n", i), 1+i, `{}`))
	}
	events = append(events, synced("nodes", 200))
	for i := range benchEvents {
		events = append(events, object(time.Second, timeline.Modified, "nodes", fmt.Sprint("n", i%100), 1000+i, fmt.Sprintf(`{"podCIDR":"%d"}`, i)))
	}
	return events
}

// cpu is the processor time that the process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ready is the typed form with the decoding done before.
type ready struct{ objects map[string]runtime.Object }

func (r *ready) decode(raw []byte) (runtime.Object, error) {
	if o, ok := r.objects[string(rawjson.Get(raw, "metadata", "resourceVersion"))]; ok {
		return o, nil
	}
	return typed{}.decode(raw) // a bookmark
}

func (r *ready) list(res timeline.Resource, items []runtime.Object, m metav1.ListMeta) (runtime.Object, error) {
	return typed{}.list(res, items, m)
}

// BenchmarkInto compares what an event costs on its way to one informer's
// handler, with and without decoding, with an update of a fake's own tracker, to
// which no one listens. The limit is 10 µs without decoding.
func BenchmarkInto(b *testing.B) {
	events := benchTape()
	done := &ready{map[string]runtime.Object{}}
	for _, ev := range events {
		if ev.Resource == "nodes" && ev.Object != nil {
			obj, err := typed{}.decode(ev.Object)
			if err != nil {
				b.Fatal(err)
			}
			done.objects[fmt.Sprintf("%q", ev.RV)] = obj
		}
	}
	for name, as := range map[string]form{"fakeclient+informer/decoded": done, "fakeclient+informer/decoding": typed{}} {
		b.Run(name, func(b *testing.B) { intoInformer(b, events, as) })
	}
	node := func(i int) *corev1.Node {
		n := &corev1.Node{}
		n.Name, n.ResourceVersion, n.Spec.PodCIDR = "a", fmt.Sprint(i), fmt.Sprint(i)
		return n
	}
	for name, tracker := range map[string]func() core.ObjectTracker{
		"NewSimpleClientset": func() core.ObjectTracker { return fake.NewSimpleClientset(node(0)).Tracker() },
		"NewClientset":       func() core.ObjectTracker { return fake.NewClientset(node(0)).Tracker() },
	} {
		b.Run("Tracker.Update/"+name, func(b *testing.B) {
			t, i := tracker(), 0
			for b.Loop() {
				i++
				if err := t.Update(nodes, node(i), ""); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/event")
		})
	}
}

func intoInformer(b *testing.B, events []timeline.Event, as form) {
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		c, err := New(replay.Events(header(), events), replay.WithSpeed(replay.Max))
		if err != nil {
			b.Fatal(err)
		}
		c.serve(&c.Clientset.Fake, as)
		i := informers.NewSharedInformerFactory(c, 0).Core().V1().Nodes().Informer()
		var n atomic.Int64
		all := make(chan struct{})
		_, err = i.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) {
			if n.Add(1) == benchEvents {
				close(all)
			}
		}})
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { i.RunWithContext(ctx); close(done) }()
		if err := untilSynced(ctx, i); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		before := cpu(b)
		if err := c.Run(ctx); err != nil {
			b.Fatal(err)
		}
		<-all
		used += cpu(b) - before
		b.StopTimer()
		cancel()
		<-done
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchEvents), "ns/event")
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N*benchEvents), "cpu-ns/event")
}
