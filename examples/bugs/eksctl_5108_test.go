package bugs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios"
)

// https://github.com/eksctl-io/eksctl/issues/5108
//
// eksctl wrote 1,800,000 lines about an event without type and object. It waits for the nodes of a group on a watch of
// its own. When that ended, its channel was closed, and gave empty events for ever.
//
// Mended (pull/5109 there) by an error once the channel is closed. The fault close ends the watch.
func TestEksctl5108(t *testing.T) {
	shows(t, watchNodes, "1000 lines about an empty event", "the watch of nodes has ended: 6 of 12 are ready")
}

var errLines = errors.New("1000 lines about an empty event")

// waitForNodes returns when so many nodes are Ready.
func waitForNodes(ctx context.Context, kube kubernetes.Interface, wanted int, mended bool) error {
	w, err := kube.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer w.Stop()
	ready, empty := map[string]bool{}, 0
	for len(ready) < wanted {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-w.ResultChan():
			if !open && mended {
				return fmt.Errorf("the watch of nodes has ended: %d of %d are ready", len(ready), wanted)
			}
			if event.Object == nil {
				empty++ // a line of the log
			}
			if empty == 1000 {
				return errLines
			}
			if n, is := event.Object.(*corev1.Node); is && isReady(n) {
				ready[n.Name] = true
			}
		}
	}
	return nil
}

func watchNodes(t *testing.T, mended bool) string {
	roll := fakeclient.ForTest(t, scenarios.Source("surge"), fault.Inject("close:nodes,at=T+2s"))
	ended := make(chan error, 1)
	go func() { ended <- waitForNodes(t.Context(), roll, 12, mended) }()
	synctest.Wait() // it watches
	roll.PlayTo(time.Minute)
	return fmt.Sprint(<-ended)
}
