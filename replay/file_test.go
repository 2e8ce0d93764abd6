package replay

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// write makes a tape file.
func write(t testing.TB, name string, events []timeline.Event) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	h := *header()
	h.APIVersion, h.Kind = timeline.APIVersion, timeline.Kind
	w, err := timeline.Create(name, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// A file plays as the events in memory do, forward and back, plain and
// compressed.
func TestFile(t *testing.T) {
	for _, name := range []string{"roll.yaml", "roll.yaml.zst"} {
		file := write(t, name, tape(t, roll))
		for _, every := range []int{1, 1024} {
			var got [2][]string
			for i, src := range []timeline.Source{File(file), Events(header(), tape(t, roll))} {
				p, err := NewPlayer(src)
				if err != nil {
					t.Fatal(err)
				}
				p.every = every
				for _, to := range []time.Duration{5500 * time.Millisecond, time.Second, End, 0, 6 * time.Second} {
					if err := p.Seek(context.Background(), to); err != nil {
						t.Fatal(err)
					}
					got[i] = append(got[i], list(t, p.Cluster(), nodes, "", metav1.ListOptions{}), list(t, p.Cluster(), pods, "", metav1.ListOptions{}))
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
			equal(t, name, strings.Join(got[0], "\n"), strings.Join(got[1], "\n"))
		}
	}
	if _, err := NewPlayer(File("missing.yaml")); err == nil {
		t.Error("a missing file: no error")
	}
}

// What an event lacks, or says differently from its object, is made right:
// a client sees the event's version in the object.
func TestVersionInTheObject(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "50"})
	for i, ev := range tape(t, "1 MODIFIED nodes a 60\n2 DELETED nodes a 61\n3 ADDED nodes c -\n4 DELETED nodes b 99") {
		switch i {
		case 1:
			ev.Object = []byte(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"60"}}`)
		case 3:
			ev.Object = nil
		}
		if _, err := c.Apply(ev); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "watch", show(t, w), "MODIFIED a@60 DELETED a@61 ADDED c@62 DELETED b@99")
}

// Whatever is in an event, the cluster answers with an error or continues.
func FuzzApply(f *testing.F) {
	f.Add("ADDED", "nodes", "x", "7", `{"metadata":{"labels":{"a":1}}}`)
	f.Add("MODIFIED", "pods", "", "-1", `{`)
	f.Add("GAP", "nodes", "a", "", `null`)
	f.Add("DELETED", "nodes", "a", "99999999999999999999999999", `[]`)
	f.Fuzz(func(t *testing.T, kind, resource, name, rv, object string) {
		c := NewCluster(header())
		apply(t, c, start)
		for _, ev := range []timeline.Event{
			{At: 1, Type: timeline.Type(kind), Resource: resource, Name: name, RV: rv, Object: []byte(object)},
			{At: 2, Type: timeline.Sync, Resource: resource, RV: rv},
			{At: 3, Type: timeline.Type(kind), Resource: resource, Name: name, RV: rv, Object: []byte(object)},
		} {
			_, _ = c.Apply(ev) // an error is as good an answer as any
		}
		key := c.State()
		for range 2 {
			for _, gvr := range []metav1.ListOptions{{}, {LabelSelector: "a=1"}, {FieldSelector: "spec.unschedulable=true"}, {ResourceVersion: rv}} {
				l, err := c.List(nodes, "", gvr)
				if err != nil {
					continue
				}
				if _, err := c.Watch(nodes, "", metav1.ListOptions{ResourceVersion: l.ResourceVersion}); err != nil {
					t.Errorf("a list's version %s can't be watched from: %v", l.ResourceVersion, err)
				}
			}
			c.Rewind(key)
		}
	})
}

// BenchmarkFile plays a file at maximum speed into a subscriber, reading
// included, beside the limit of 150,000 events a second.
func BenchmarkFile(b *testing.B) {
	events := heartbeats(20_000)
	file := write(b, "bench.yaml", events)
	b.Run("play", func(b *testing.B) {
		before := cpu(b)
		for b.Loop() {
			p, err := NewPlayer(File(file), WithSpeed(Max))
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			p.Subscribe(func(Note) { n++ })
			if err := p.Run(context.Background()); err != nil {
				b.Fatal(err)
			}
			if n < len(events) {
				b.Fatal(fmt.Sprint(n, " events"))
			}
			if err := p.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N*len(events)), "cpu-ns/event")
		b.ReportMetric(float64(b.N*len(events))/b.Elapsed().Seconds(), "events/s")
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			p, err := NewPlayer(File(file))
			if err != nil {
				b.Fatal(err)
			}
			if _, _, err := p.Upcoming(); err != nil {
				b.Fatal(err)
			}
			if err := p.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
