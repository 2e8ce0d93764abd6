package replay_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// faultyInjector withholds every MODIFIED for two seconds of tape, and closes streams
// where something is deleted.
type faultyInjector struct {
	resource timeline.Resource
	due      []time.Duration
	refuse   bool
	closed   int
}

func (m *faultyInjector) Before(c replay.Change) replay.Rewrite {
	switch {
	case !c.Live:
	case c.Event.Type == timeline.Modified:
		m.due = append(m.due, c.Event.At+2*time.Second)
	case c.Event.Type == timeline.Deleted:
		m.closed++
		return replay.Rewrite{Before: []replay.StreamMarker{{Resource: m.resource, Value: "close"}}}
	}
	return replay.Rewrite{}
}

func (m *faultyInjector) Due() (time.Duration, bool) {
	if len(m.due) == 0 {
		return 0, false
	}
	return m.due[0], true
}

func (m *faultyInjector) Pass(time.Duration) []replay.StreamMarker {
	if len(m.due) == 0 {
		return nil
	}
	m.due = m.due[1:]
	return []replay.StreamMarker{{Resource: m.resource, Value: "release"}}
}

func (m *faultyInjector) Rewound() { m.due = nil }

func (m *faultyInjector) Request(r replay.Request) replay.Verdict {
	if m.refuse && r.Verb == "list" {
		return replay.Verdict{Err: apierrors.NewTooManyRequests("not now", 3)}
	}
	return replay.Verdict{}
}

func (m *faultyInjector) Filter(replay.Request) replay.StreamFilter { return &withholding{} }

type withholding struct{ held []replay.Event }

func (w *withholding) Event(ev replay.Event, initial bool) []replay.Event {
	if !initial && ev.Type == watch.Modified {
		w.held = append(w.held, ev)
		return nil
	}
	return []replay.Event{ev}
}

func (w *withholding) StreamMarker(value any) []replay.Event {
	if value == "close" {
		return []replay.Event{{Type: replay.Closed}}
	}
	out := w.held[:1]
	w.held = w.held[1:]
	return out
}

func TestFaultInjector(t *testing.T) {
	node := func(typ timeline.Type, at time.Duration, name, rv string) timeline.Event {
		return timeline.Event{At: at, Type: typ, Resource: "nodes", Name: name, RV: rv,
			Object: []byte(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"` + name + `","uid":"u-` + name + `","resourceVersion":"` + rv + `"}}`)}
	}
	h := &timeline.Header{Resources: []timeline.Resource{{Version: "v1", Kind: "Node", Resource: "nodes"}}}
	tape := replay.Events(h, []timeline.Event{
		node(timeline.Added, 0, "a", "5"),
		{Type: timeline.Sync, Resource: "nodes", RV: "6"},
		node(timeline.Modified, 1*time.Second, "a", "7"),
		node(timeline.Added, 2*time.Second, "b", "8"),
		node(timeline.Added, 4*time.Second, "c", "9"),
		node(timeline.Modified, 5*time.Second, "c", "10"),
		node(timeline.Deleted, 6*time.Second, "b", "11"),
	})
	m := &faultyInjector{resource: h.Resources[0]}
	p, err := replay.NewPlayer(tape, replay.WithFaultInjectorFor(func(*timeline.Header) (replay.FaultInjector, error) { return m, nil }))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	nodes := schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	w, err := p.Cluster().Watch(nodes, "", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		err := p.Step()
		for {
			ev, err := w.TryNext()
			if replay.IsNoEvent(err) || errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p.Status().Event.String()+" "+string(ev.Type)+" "+ev.Object.ResourceVersion())
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"1s ADDED 5", "2s ADDED 8", "2s MODIFIED 7", "4s ADDED 9"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the watch delivered (-want +got):\n%s", diff)
	}
	if _, err := w.Next(context.Background()); !errors.Is(err, io.EOF) {
		t.Errorf("Next of the stream that was closed: %v, want io.EOF", err)
	}
	m.refuse = true
	if _, err := p.Cluster().List(nodes, "", metav1.ListOptions{}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("List: %v, want 429", err)
	}
	if err := p.Seek(context.Background(), 0); err != nil || m.closed != 1 {
		t.Errorf("Seek to the beginning: %v, %d streams closed, want 1", err, m.closed)
	}
}
