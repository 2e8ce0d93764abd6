package noderoll_test

import (
	"fmt"

	"github.com/nodesim/nodesim/noderoll"
)

// An idle node that Cluster Autoscaler considers for removal isn't draining, unless the caller says so; and a node that
// was ready and falls silent isn't joining once more.
func ExampleClassify() {
	idle := &noderoll.Node{Name: "ip-10-0-1-12", Ready: "True", TaintKeys: []string{"DeletionCandidateOfClusterAutoscaler"}}
	fmt.Println(noderoll.Classify(idle, true, nil))
	taints := append(noderoll.DefaultRemovalTaints(), "DeletionCandidateOfClusterAutoscaler*")
	fmt.Println(noderoll.Classify(idle, true, taints))

	silent := &noderoll.Node{Name: "ip-10-0-3-21", Ready: "Unknown"}
	fmt.Println(noderoll.Classify(silent, true, nil), noderoll.Classify(silent, false, nil))
	// Output:
	// Ready
	// Draining
	// NotReady Joining
}
