package bugs

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios"
)

// https://github.com/kubernetes-sigs/node-readiness-controller/issues/203
//
// The status of a NodeReadinessRule told of failures on nodes that were long gone. What is cleaned up after a node was
// deleted is status.nodeEvaluations; status.failedNodes was forgotten.
//
// Mended by cleaning both. Here the API server fails once, at the first node; in surge all nodes are replaced.
func TestNodeReadinessController203(t *testing.T) {
	shows(t, keepStatus, "failed: 1, of them gone: 1", "failed: 0, of them gone: 0")
}

// ruleStatus is what the controller keeps for each rule, by node.
type ruleStatus struct{ nodeEvaluations, failedNodes map[string]bool }

func keepStatus(t *testing.T, mended bool) string {
	failures := 0
	roll := fakeclient.ForTest(t, scenarios.Source("surge"), fakeclient.WithWrites(fakeclient.Record),
		fault.InjectAndLog(func(fault.Fired) { failures++ }, "500:nodes,verb=patch,count=1"))
	nodes := roll.Informers.Core().V1().Nodes().Informer()
	status := ruleStatus{map[string]bool{}, map[string]bool{}}
	handle(t, nodes, cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			n := o.(*corev1.Node)
			status.nodeEvaluations[n.Name] = true
			taint := []byte(`{"spec":{"taints":[{"key":"readiness.k8s.io/network","effect":"NoSchedule"}]}}`)
			if _, err := roll.CoreV1().Nodes().Patch(t.Context(), n.Name, types.StrategicMergePatchType, taint, metav1.PatchOptions{}); err != nil {
				status.failedNodes[n.Name] = true
			}
		},
		DeleteFunc: func(any) { // cleans up
			for name := range status.nodeEvaluations {
				if _, there, _ := nodes.GetStore().GetByKey(name); !there {
					delete(status.nodeEvaluations, name)
					if mended {
						delete(status.failedNodes, name)
					}
				}
			}
		},
	})
	roll.Play()
	if failures != 1 {
		t.Errorf("%d requests failed, want 1", failures)
	}
	gone := 0
	for name := range status.failedNodes {
		if _, there, _ := nodes.GetStore().GetByKey(name); !there {
			gone++
		}
	}
	return fmt.Sprintf("failed: %d, of them gone: %d", len(status.failedNodes), gone)
}
