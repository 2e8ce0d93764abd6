package replay

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// heartbeats is a tape of 100 nodes of 2 KB each and n status changes.
func heartbeats(n int) []timeline.Event {
	var pad string
	for i := range 60 {
		pad += fmt.Sprintf(`,"label-%d":"some value of a node"`, i)
	}
	all := make([]timeline.Event, 0, n+102)
	add := func(at int, kind timeline.Type, node, rv int) {
		name := fmt.Sprintf("node-%d", node)
		all = append(all, timeline.Event{
			At: time.Duration(at) * time.Millisecond, Type: kind, Resource: "nodes", Name: name, UID: name, RV: fmt.Sprint(rv),
			Object: fmt.Appendf(nil, `{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"uid":%q,"resourceVersion":"%d","labels":{"n":"1"%s}},"status":{"at":%d}}`, name, name, rv, pad, at),
		})
	}
	for i := range 100 {
		add(0, timeline.Added, i, 100+i)
	}
	all = append(all, timeline.Event{Type: timeline.Sync, Resource: "nodes", RV: "300"})
	for i := range n {
		add(i, timeline.Modified, i%100, 1000+i)
	}
	return all
}

// cpu is the processor time that the process has used: on a machine that does
// other things as well, it says more than the clock.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPlayerMax plays at maximum speed into a subscriber, beside the
// limit of 150,000 events a second (6,667 ns an event), reading excluded.
func BenchmarkPlayerMax(b *testing.B) {
	for _, watchers := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("watchers=%d", watchers), func(b *testing.B) {
			events := heartbeats(20_000)
			b.ReportAllocs()
			n := 0
			before := cpu(b)
			for b.Loop() {
				p, err := NewPlayer(Events(header(), events), WithSpeed(Max))
				if err != nil {
					b.Fatal(err)
				}
				cancel := p.Subscribe(func(note Note) { n++ })
				if err := p.Open(); err != nil {
					b.Fatal(err)
				}
				done := make(chan error)
				for range watchers {
					w, err := p.Cluster().Watch(nodes, "", metav1.ListOptions{ResourceVersion: "300"})
					if err != nil {
						b.Fatal(err)
					}
					go func() {
						for {
							ev, err := w.Next(context.Background())
							if err != nil || ev.Object.ResourceVersion() == "20999" {
								w.Stop()
								done <- err
								return
							}
						}
					}()
				}
				if err := p.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
				for range watchers {
					if err := <-done; err != nil {
						b.Fatal(err)
					}
				}
				cancel()
			}
			b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N*len(events)), "cpu-ns/event")
			b.ReportMetric(float64(b.N*len(events))/b.Elapsed().Seconds(), "events/s")
		})
	}
}
