package bugs

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios"
)

// https://github.com/prometheus/prometheus/pull/15170
//
// Prometheus panicked where its discovery attaches the labels of nodes to targets. When a node is gone, the targets on
// it are built again; the handler took the node from what the informer handed it, which was a
// cache.DeletedFinalStateUnknown.
//
// Mended by using the key, which both have. In spot-vanish a node is gone while its pods are there for a minute yet.
func TestPrometheus15170(t *testing.T) {
	shows(t, attachNodes,
		"panic: interface conversion: interface {} is cache.DeletedFinalStateUnknown, not *v1.Node",
		"the targets of the node that is gone were built again")
}

func attachNodes(t *testing.T, mended bool) string {
	roll := fakeclient.ForTest(t, scenarios.Source("spot-vanish"), fault.Inject("close:nodes,lose=DELETED"))
	pods := roll.Informers.Core().V1().Pods().Lister()
	var p process
	rebuilt := 0
	handle(t, roll.Informers.Core().V1().Nodes().Informer(), cache.ResourceEventHandlerFuncs{DeleteFunc: func(o any) {
		p.do(func() {
			var name string
			if mended {
				name, _ = cache.DeletionHandlingMetaNamespaceKeyFunc(o) // what an informer hands out has a key
			} else {
				name = o.(*corev1.Node).Name
			}
			targets, _ := pods.List(labels.Everything()) // a lister's error can't happen
			for _, pod := range targets {
				if pod.Spec.NodeName == name {
					rebuilt++
				}
			}
		})
	}})
	roll.Play()
	if rebuilt == 0 {
		return p.ends("no target was built again")
	}
	return p.ends("the targets of the node that is gone were built again")
}
