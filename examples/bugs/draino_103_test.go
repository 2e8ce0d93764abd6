package bugs

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios"
)

// https://github.com/planetlabs/draino/issues/103
//
// draino's delete handler, which takes back the drain that is planned for a node, wrote errors. pull/106 there found
// that it lacks a return as well: it knows that a deletion may come as a cache.DeletedFinalStateUnknown, uses the key,
// and then continues with a node that is nil.
//
// Mended, as pull/106 proposes, by the return. In spot-vanish a machine dies; its node is not Ready, so that a drain is planned, and is then
// deleted, which the fault keeps from the watch.
func TestDraino103(t *testing.T) {
	shows(t, planDrains,
		"panic: runtime error: invalid memory address or nil pointer dereference",
		"1 drain was planned, 0 are")
}

func planDrains(t *testing.T, mended bool) string {
	roll := fakeclient.ForTest(t, scenarios.Source("spot-vanish"), fault.Inject("close:nodes,lose=DELETED"))
	var p process
	was, plans := 0, map[string]bool{}
	handle(t, roll.Informers.Core().V1().Nodes().Informer(), cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			p.do(func() {
				switch n := after.(*corev1.Node); {
				case isReady(n):
					delete(plans, n.Name)
				case isReady(before.(*corev1.Node)):
					was++
					plans[n.Name] = true
				}
			})
		},
		DeleteFunc: func(o any) {
			p.do(func() {
				n, is := o.(*corev1.Node)
				if !is {
					lost, is := o.(cache.DeletedFinalStateUnknown)
					if !is {
						return
					}
					delete(plans, lost.Key)
					if mended {
						return
					}
				}
				delete(plans, n.GetName())
			})
		},
	})
	roll.Play()
	return p.ends(fmt.Sprintf("%d drain was planned, %d are", was, len(plans)))
}
