package bugs

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios"
)

// https://github.com/elastic/beats/pull/23419
//
// filebeat restarted now and then, a minute after a pod was gone. Its autodiscovery stops to read the logs of a pod
// some time after the deletion, and looked at what the informer had handed it only then, on the goroutine of a timer,
// where nothing recovers: a cache.DeletedFinalStateUnknown.
//
// Mended by looking at it at once. The fault gone makes the watch end with 410 before a deletion: the informer finds
// out by listing.
func TestBeats23419(t *testing.T) {
	shows(t, stopLater,
		"panic: interface conversion: interface {} is cache.DeletedFinalStateUnknown, not *v1.Pod, after 1m0s",
		"no log of a pod that is gone is read")
}

// cleanupTimeout is how long a log is read after its pod is gone.
const cleanupTimeout = time.Minute

func stopLater(t *testing.T, mended bool) string {
	roll := fakeclient.ForTest(t, scenarios.Source("spot-vanish"), fault.Inject("gone:pods,in=open,type=DELETED"))
	pods := roll.Informers.Core().V1().Pods().Informer()
	var p process
	reads := map[string]bool{}
	stop := func(pod *corev1.Pod) { delete(reads, string(pod.UID)) }
	handle(t, pods, cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { p.do(func() { reads[string(o.(*corev1.Pod).UID)] = true }) },
		DeleteFunc: func(o any) {
			if lost, is := o.(cache.DeletedFinalStateUnknown); is && mended {
				o = lost.Obj
			}
			time.AfterFunc(cleanupTimeout, func() { p.do(func() { stop(o.(*corev1.Pod)) }) })
		},
	})
	roll.Play()
	if early := p.ends(""); early != "" {
		return early + ", at once"
	}
	<-time.After(2 * cleanupTimeout)
	if crash := p.ends(""); crash != "" {
		return fmt.Sprintf("%s, after %s", crash, cleanupTimeout)
	}
	if len(reads) != len(pods.GetStore().List()) {
		return "logs of pods that are gone are read"
	}
	return "no log of a pod that is gone is read"
}
