package fault_test

import (
	"errors"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/timeline"
)

// A watch ends just before a node is deleted, and what happened meanwhile is
// gone: who lists again finds the node missing, and is never told of its end.
func Example() {
	tape := replay.Events(header(), []timeline.Event{
		node(0, timeline.Added, "ip-10-0-1-10", 481),
		synced(0, "nodes", 512),
		node(12.4, timeline.Modified, "ip-10-0-1-10", 530, "cordoned"),
		node(92.4, timeline.Deleted, "ip-10-0-1-10", 702, "cordoned"),
	})
	p, err := replay.NewPlayer(tape, fault.InjectAndLog(func(f fault.Fired) { fmt.Println(f) }, "close:nodes,lose=DELETED"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = p.Close() }()
	if err := p.Open(); err != nil {
		fmt.Println(err)
		return
	}
	w, err := p.Cluster().Watch(nodeGVR, "", metav1.ListOptions{ResourceVersion: "512"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		if err := p.Step(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
		for {
			ev, err := w.TryNext()
			if replay.IsNoEvent(err) {
				break
			}
			if errors.Is(err, io.EOF) {
				fmt.Println("the watch has ended")
				break
			}
			fmt.Println(ev.Type, ev.Object.Name(), "at", p.Position())
		}
	}
	_, err = p.Cluster().Watch(nodeGVR, "", metav1.ListOptions{ResourceVersion: w.Version()})
	fmt.Println(err)
	l, err := p.Cluster().List(nodeGVR, "", metav1.ListOptions{})
	fmt.Println(len(l.Items), "nodes,", err)
	// Output:
	// MODIFIED ip-10-0-1-10 at 12.4s
	// T+1m32.400s  fault close  nodes ip-10-0-1-10 DELETED rv 702
	// the watch has ended
	// too old resource version: 530
	// 0 nodes, <nil>
}

// A fault is read strictly.
func ExampleParse() {
	s, err := fault.Parse("429:nodes,for=30s,retry-after=5s,verb=list")
	fmt.Println(s, err)
	_, err = fault.Parse("drop:nodes,typ=DELETED")
	fmt.Println(err)
	fmt.Println(s.For == 30*time.Second)
	// Output:
	// 429:nodes,verb=list,for=30s,retry-after=5s <nil>
	// fault "drop:nodes,typ=DELETED": character 12: found parameter "typ", want of drop one of namespace, name, selector, type, at, for, event, p, seed, when, count; did you mean type?
	// true
}
