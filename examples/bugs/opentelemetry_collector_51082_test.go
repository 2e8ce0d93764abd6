package bugs

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios"
)

// https://github.com/open-telemetry/opentelemetry-collector-contrib/pull/51082
//
// Receivers of the OpenTelemetry collector were silent until it was restarted. They watch through client-go's
// RetryWatcher, which watches again by itself, but not after 410: then it closes its channel, and their loop took that
// for its own end.
//
// Mended, as the pull request proposes, by a new list and a new watch. The fault gone is that 410; in node-flap a node
// falls silent four times.
func TestOpenTelemetryCollector51082(t *testing.T) {
	shows(t, observeNodes, "heard of 1 of 4 outages", "heard of 4 of 4 outages")
}

// observer counts how often a node is no longer Ready.
type observer struct {
	kube    kubernetes.Interface
	mended  bool
	silent  map[string]bool
	outages int
}

func (o *observer) run(ctx context.Context) error {
	nodes := o.kube.CoreV1().Nodes()
	watched := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		return nodes.Watch(ctx, options)
	}}
	for ctx.Err() == nil {
		list, err := nodes.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		w, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, watched)
		if err != nil {
			return err
		}
		for event := range w.ResultChan() {
			if n, is := event.Object.(*corev1.Node); is {
				o.see(n)
			}
		}
		if !o.mended {
			return nil
		}
	}
	return nil
}

func (o *observer) see(n *corev1.Node) {
	if !isReady(n) && !o.silent[n.Name] {
		o.outages++
	}
	o.silent[n.Name] = !isReady(n)
}

func observeNodes(t *testing.T, mended bool) string {
	roll := fakeclient.ForTest(t, scenarios.Source("node-flap"), fault.Inject("gone:nodes,at=T+150s"))
	o := &observer{kube: roll, mended: mended, silent: map[string]bool{}}
	ended := make(chan error, 1)
	go func() { ended <- o.run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	const outages = 4
	for at := time.Duration(0); at < 20*time.Minute; at += 10 * time.Second {
		<-time.After(10 * time.Second) // of the bubble: it watches again
		synctest.Wait()
		roll.PlayTo(at)
	}
	synctest.Wait()
	return fmt.Sprintf("heard of %d of %d outages", o.outages, outages)
}
