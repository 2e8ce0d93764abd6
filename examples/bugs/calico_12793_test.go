package bugs

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios"
)

// https://github.com/projectcalico/calico/pull/12793
//
// calico-kube-controllers crashed in a loop. It releases the addresses of pods and nodes that are gone, and its delete
// handlers took for granted what an informer hands them. After a watch that missed the deletion that is a
// cache.DeletedFinalStateUnknown.
//
// Mended by taking the object out of it. The fault close with lose=DELETED makes every deletion come that way.
func TestCalico12793(t *testing.T) {
	shows(t, releaseAddresses,
		"panic: interface conversion: interface {} is cache.DeletedFinalStateUnknown, not *v1.Pod",
		"0 addresses of pods that are gone")
}

func releaseAddresses(t *testing.T, mended bool) string {
	roll := fakeclient.ForTest(t, scenarios.Source("spot-vanish"), fault.Inject("close:pods,lose=DELETED"))
	pods := roll.Informers.Core().V1().Pods().Informer()
	var p process
	held := map[types.UID]bool{}
	handle(t, pods, cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { p.do(func() { held[o.(*corev1.Pod).UID] = true }) },
		DeleteFunc: func(o any) {
			p.do(func() {
				if lost, is := o.(cache.DeletedFinalStateUnknown); is && mended {
					o = lost.Obj
				}
				delete(held, o.(*corev1.Pod).UID)
			})
		},
	})
	roll.Play()
	return p.ends(fmt.Sprintf("%d addresses of pods that are gone", len(held)-len(pods.GetStore().List())))
}
