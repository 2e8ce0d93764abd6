//go:build controlplane

package virtualnode_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

// A nodeSlot is room for one node on a real API server. Node and lease are removed with the test.
type nodeSlot struct {
	t        testing.TB
	ctx      context.Context
	cluster  *testcluster.Cluster
	admin    kubernetes.Interface
	node     *corev1.Node
	provider *virtualnode.NaiveNodeProviderV2
}

var plots atomic.Int32

func newPlot(t testing.TB) *nodeSlot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	t.Cleanup(cancel)
	cluster := testcluster.Shared(t)
	leavesNothing(t)
	p := &nodeSlot{
		t: t, ctx: klog.NewContext(ctx, klog.Logger{}), cluster: cluster, admin: cluster.Client(),
		provider: virtualnode.NewNaiveNodeProvider(),
		node: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("virtual-%d", plots.Add(1)), Labels: map[string]string{"own": "a"}},
			Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}}},
			Status: corev1.NodeStatus{
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: metav1.Now()}},
				Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}, {Type: corev1.NodeInternalIP, Address: "fd00::1"}},
			},
		},
	}
	t.Cleanup(func() {
		background := context.Background()
		p.allowed(p.admin.CoreV1().Nodes().Delete(background, p.node.Name, metav1.DeleteOptions{}))
		p.allowed(p.admin.CoordinationV1().Leases(corev1.NamespaceNodeLease).Delete(background, p.node.Name, metav1.DeleteOptions{}))
	})
	return p
}

// allowed lets the absence of an object pass.
func (p *nodeSlot) allowed(err error) {
	p.t.Helper()
	if err != nil && !apierrors.IsNotFound(err) {
		p.t.Error(err)
	}
}

// controller writes with one configuration, renews its lease each 100 ms and reports each 200 ms.
func (p *nodeSlot) controller(config *rest.Config, options ...virtualnode.NodeControllerOpt) *virtualnode.NodeController {
	p.t.Helper()
	client, err := kubernetes.NewForConfig(fast(config))
	if err != nil {
		p.t.Fatal(err)
	}
	leases := client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	c, err := virtualnode.NewNodeController(p.provider, p.node, client.CoreV1().Nodes(), append([]virtualnode.NodeControllerOpt{
		virtualnode.WithNodeEnableLeaseV1WithRenewInterval(leases, 40, 100*time.Millisecond),
		virtualnode.WithNodeStatusUpdateInterval(200 * time.Millisecond),
	}, options...)...)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// run runs a controller until it is ready; stop ends it, as the test's end does.
func (p *nodeSlot) run(c *virtualnode.NodeController) (stop func()) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.ctx)
	go func() { _ = c.Run(ctx) }()
	stop = func() {
		cancel()
		<-c.Done()
		if c.Err() != nil {
			p.t.Error(c.Err())
		}
	}
	p.t.Cleanup(stop)
	select {
	case <-c.Ready():
	case <-c.Done():
		p.t.Fatal(c.Err())
	}
	return stop
}

func (p *nodeSlot) live() *corev1.Node {
	node, err := p.admin.CoreV1().Nodes().Get(p.ctx, p.node.Name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return node
}

func (p *nodeSlot) lease() *coordinationv1.Lease {
	lease, err := p.admin.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(p.ctx, p.node.Name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return lease
}

// edit changes the node as somebody else does.
func (p *nodeSlot) edit(change func(*corev1.Node)) {
	p.t.Helper()
	for {
		node := p.live()
		change(node)
		_, err := p.admin.CoreV1().Nodes().Update(p.ctx, node, metav1.UpdateOptions{})
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			p.t.Fatal(err)
		}
	}
}

func (p *nodeSlot) until(what string, holds func() bool) {
	p.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-p.ctx.Done():
			p.t.Fatalf("wait for %s: %v; node %+v, lease %+v", what, p.ctx.Err(), p.live(), p.lease())
		case <-tick.C:
		}
	}
}

// renewedAfter waits until the lease was renewed after a moment, by the node as it is now.
func (p *nodeSlot) renewedAfter(moment time.Time) {
	p.t.Helper()
	p.until("a renewal of the lease", func() bool {
		node, lease := p.live(), p.lease()
		return node != nil && lease != nil && lease.Spec.RenewTime.After(moment) && *lease.Spec.HolderIdentity == node.Name &&
			len(lease.OwnerReferences) == 1 && lease.OwnerReferences[0].UID == node.UID
	})
}
