package invariant_test

import (
	"fmt"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/noderoll/invariant"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A simulated node that is cordoned has to get its taint within a second.
func ExampleChecker() {
	start := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	c := invariant.NewChecker(invariant.CheckSimulated(start))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-1-10", UID: "u-1", CreationTimestamp: metav1.NewTime(start)}}
	tell := func(at time.Duration, typ invariant.ChangeType, version string) {
		for _, v := range c.Observe(invariant.Change{At: at, Type: typ, Resource: noderoll.Nodes, Version: version, Object: node}) {
			fmt.Println(v)
		}
	}
	tell(0, invariant.ChangeAdded, "1")
	node.Spec.Unschedulable = true
	tell(5*time.Second, invariant.ChangeModified, "2")
	node.Spec.ProviderID = "aws:///eu-central-1a/i-0123456789abcdef0"
	tell(8*time.Second, invariant.ChangeModified, "2")
	// Output:
	// T+5.000s: Node/ip-10-0-1-10: cordon-taint: found spec.unschedulable without taint node.kubernetes.io/unschedulable:NoSchedule since T+5.000s: want the taint exactly while spec.unschedulable
	// T+8.000s: Node/ip-10-0-1-10: version-increases: found resourceVersion 2 after 2: want a greater one
	// T+8.000s: Node/ip-10-0-1-10: versions-in-order: found resourceVersion 2 after 2 of nodes: want a greater one
}
