package bugs

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

// https://github.com/keikoproj/lifecycle-manager/issues/164
//
// Nodes were drained that weren't cordoned. The request to cordon had timed out, but kubectl's drain library had
// already marked the Node object in memory; the next attempt used the same object, found it cordoned, and went on to
// evict.
//
// Mended (pull/165 there) by a copy for each attempt. The fault timeout refuses the first request, and the simulated
// scheduler has pods come back to the node.
func TestLifecycleManager164(t *testing.T) {
	shows(t, drainWithRetries, "drained, cordoned: false, pods on it: true", "drained, cordoned: true, pods on it: false")
}

// cordonObject is what kubectl's helper does (CordonHelper of k8s.io/kubectl/pkg/drain/cordon.go).
func cordonObject(ctx context.Context, kube kubernetes.Interface, n *corev1.Node) error {
	if n.Spec.Unschedulable {
		return nil // nothing to do
	}
	n.Spec.Unschedulable = true
	_, err := kube.CoreV1().Nodes().Patch(ctx, n.Name, types.StrategicMergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	return err
}

func drainWithRetries(t *testing.T, mended bool) string {
	c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")), fault.Inject("timeout:nodes,verb=patch,count=1"))
	c.Start()
	node := &c.Nodes()[0]
	const attempts = 3
	for range attempts {
		n := node
		if mended {
			n = node.DeepCopy()
		}
		if err := cordonObject(t.Context(), c.Kube, n); err != nil {
			continue
		}
		evictFrom(t, c, node.Name)
		<-time.After(5 * time.Minute)
		back := len(c.Pods("shop", "app=web", node.Name)) > 0
		return fmt.Sprintf("drained, cordoned: %t, pods on it: %t", nodeNamed(t, c, node.Name).Spec.Unschedulable, back)
	}
	return "not drained"
}
