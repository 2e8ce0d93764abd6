package replay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var nodes = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}

// cordon is a tape in which a node is cordoned and goes away.
func cordon() timeline.Source {
	node := func(at time.Duration, kind timeline.Type, rv, spec string) timeline.Event {
		return timeline.Event{
			At: at, Type: kind, Resource: "nodes", Name: "ip-10-0-1-10", UID: "7c1e", RV: rv,
			Object: []byte(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"ip-10-0-1-10","uid":"7c1e","resourceVersion":"` + rv + `"},"spec":` + spec + `}`),
		}
	}
	return replay.Events(
		&timeline.Header{Resources: []timeline.Resource{{Version: "v1", Kind: "Node", Resource: "nodes"}}},
		[]timeline.Event{
			node(0, timeline.Added, "481", `{}`),
			{Type: timeline.Sync, Resource: "nodes", RV: "512"},
			node(12*time.Second, timeline.Modified, "530", `{"unschedulable":true}`),
			node(88*time.Second, timeline.Deleted, "604", `{"unschedulable":true}`),
		})
}

// List at a moment, watch from there.
func Example() {
	p, err := replay.NewPlayer(cordon(), replay.WithSpeed(replay.Max))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Open(); err != nil { // apply the initial list
		log.Fatal(err)
	}
	list, err := p.Cluster().List(nodes, "", metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(list.Items), "node at version", list.ResourceVersion)

	// Only schedulable nodes: a cordoned one leaves the selection.
	w, err := p.Cluster().Watch(nodes, "", metav1.ListOptions{
		ResourceVersion: list.ResourceVersion, FieldSelector: "spec.unschedulable=false",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Stop()
	if err := p.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	ev, err := w.Next(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ev.Type, ev.Object.Name(), "at version", ev.Object.ResourceVersion())
	// Output:
	// 1 node at version 512
	// DELETED ip-10-0-1-10 at version 530
}

// Step by step, and back again.
func ExamplePlayer_Seek() {
	p, err := replay.NewPlayer(cordon())
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	for {
		err := p.Step()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		l, _ := p.Cluster().List(nodes, "", metav1.ListOptions{})
		fmt.Println(p.Position(), len(l.Items), "nodes, version", l.ResourceVersion)
	}
	if err := p.Seek(context.Background(), 20*time.Second); err != nil {
		log.Fatal(err)
	}
	l, _ := p.Cluster().List(nodes, "", metav1.ListOptions{})
	fmt.Println("back:", len(l.Items), "node, version", l.ResourceVersion)
	// Output:
	// 0s 1 nodes, version 512
	// 12s 1 nodes, version 530
	// 1m28s 0 nodes, version 604
	// back: 1 node, version 1530
}
