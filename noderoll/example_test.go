package noderoll_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/nodesim/nodesim/noderoll"
)

// A Tracker turns snapshots into events.
func ExampleTracker() {
	o := noderoll.NewScriptedObserver(noderoll.DemoTimeline())
	tr := noderoll.NewTracker()
	for !o.AtEnd() {
		s, err := o.Snapshot(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		tr.Observe(s)
	}
	for _, e := range tr.Recent(4) {
		fmt.Println(e.Kind, e.Node)
	}
	// Output:
	// joining ip-10-0-3-05
	// draining ip-10-0-2-08
	// online ip-10-0-3-05
	// terminated ip-10-0-2-08
}

// A Feed takes single changes, each at its time, and tells what they mean. The
// target of the roll needs no telling: it is the image that appears last.
func ExampleFeed() {
	node := func(name, image string) noderoll.Node {
		return noderoll.Node{Name: name, Ready: "True", Labels: map[string]string{
			noderoll.LabelNodegroup: "spot-burst", noderoll.LabelImage: image,
		}}
	}
	show := func(entries []noderoll.Entry) {
		for _, e := range entries {
			fmt.Println(e)
		}
	}
	f := noderoll.NewFeed(noderoll.FeedOptions{})
	show(f.SetNode(0, node("ip-10-0-1-10", "ami-0a1b")))
	show(f.Synced(0, noderoll.Nodes))

	show(f.SetNode(12*time.Second, node("ip-10-0-2-10", "ami-0f9e")))
	old := node("ip-10-0-1-10", "ami-0a1b")
	old.Unschedulable = true
	show(f.SetNode(92412*time.Millisecond, old))
	show(f.DeleteNode(140*time.Second, "ip-10-0-1-10", ""))
	// Output:
	// T+12.000s    online      ip-10-0-2-10
	// T+1m32.412s  cordoned    ip-10-0-1-10
	// T+2m20.000s  terminated  ip-10-0-1-10
	// T+2m20.000s  complete    -                 1 node on target
}

// A KubeObserver looks at a live group; any kubernetes.Interface will do.
func ExampleKubeObserver() {
	client := fake.NewSimpleClientset(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-1-10", Labels: map[string]string{
			noderoll.LabelNodegroup: "spot-burst", noderoll.LabelImage: "ami-0f9e",
		}},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	})
	o := noderoll.NewKubeObserver(client, "spot-burst", "ami-0f9e")
	s, err := o.Snapshot(context.Background())
	fmt.Println(s.Nodes[0].Name, s.Nodes[0].Phase, s.Complete(), err)
	// Output: ip-10-0-1-10 Ready true <nil>
}

// Brief makes a message from a cluster fit for one line of a terminal.
func ExampleBrief() {
	fmt.Println(noderoll.Brief("Failed to drain node,\nevicting pod violates a PDB", 30))
	// Output: Failed to drain node, evictin…
}
