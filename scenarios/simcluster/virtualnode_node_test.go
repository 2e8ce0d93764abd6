package simcluster_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

// virtual is a Node for a NodeController of virtualnode, with room for pods.
func virtual() *corev1.Node {
	room := virtualnode.NewMockProvider(nil).Capacity()
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "virtual-1", Labels: map[string]string{"own": "a", "kind": "virtual"}},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: metav1.Now()}},
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.9.0.1"}},
		},
	}
}

// keepNode runs a NodeController with virtualnode's own intervals until stop, or the test's end.
func keepNode(t *testing.T, k kubernetes.Interface, p virtualnode.NodeProvider, n *corev1.Node, options ...virtualnode.NodeControllerOpt) (c *virtualnode.NodeController, stop func()) {
	t.Helper()
	leases := k.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	c, err := virtualnode.NewNodeController(p, n, k.CoreV1().Nodes(), append([]virtualnode.NodeControllerOpt{
		virtualnode.WithNodeEnableLeaseV1(leases, virtualnode.DefaultLeaseDuration),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), klog.Logger{}))
	go func() { _ = c.Run(ctx) }() // Err has what it returns
	stop = func() {
		cancel()
		<-c.Done()
		if err := c.Err(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	select {
	case <-c.Ready():
	case <-c.Done():
		t.Fatal(c.Err())
	}
	return c, stop
}

// The counterpart of TestNodeOnARealAPIServer in virtualnode: a NodeController keeps its node by its Lease for half an hour,
// what others write stays, a node that is deleted comes again; without its controller the cluster calls it unreachable, and
// the next controller takes it over.
func TestANodeControllerKeepsItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 1}))
		c.Start()
		k := clients(t, c)
		live := func() *corev1.Node {
			n, err := k.CoreV1().Nodes().Get(t.Context(), "virtual-1", metav1.GetOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
			return n
		}
		ready := func() corev1.ConditionStatus {
			for _, one := range live().Status.Conditions {
				if one.Type == corev1.NodeReady {
					return one.Status
				}
			}
			return ""
		}
		provider := virtualnode.NewNaiveNodeProvider()
		keeper, stop := keepNode(t, k, provider, virtual())
		first := live()
		<-time.After(30 * time.Minute)
		lease, err := k.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(t.Context(), "virtual-1", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if age := time.Since(lease.Spec.RenewTime.Time); age > 15*time.Second || ready() != corev1.ConditionTrue || live().UID != first.UID {
			t.Errorf("after half an hour the Lease is %s old, the node is ready: %s", age, ready())
		}

		cordoned := live()
		cordoned.Spec.Unschedulable, cordoned.Labels["theirs"] = true, "stays"
		if _, err := k.CoreV1().Nodes().Update(t.Context(), cordoned, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		pushed := virtual()
		pushed.Labels, pushed.Status.Addresses[0].Address = nil, "10.9.0.2"
		if err := provider.UpdateStatus(t.Context(), pushed); err != nil {
			t.Fatal(err)
		}
		c.Eventually(time.Minute, "what the provider pushed", func() bool {
			n := live()
			_, own := n.Labels["own"]
			return !own && n.Status.Addresses[0].Address == "10.9.0.2"
		})
		if n := live(); !n.Spec.Unschedulable || n.Labels["theirs"] != "stays" {
			t.Errorf("found labels %v, want the node cordoned, with the label of others", n.Labels)
		}

		if err := k.CoreV1().Nodes().Delete(t.Context(), "virtual-1", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		keeper.Reconcile()
		c.Eventually(time.Minute, "another node", func() bool { n := live(); return n.UID != "" && n.UID != first.UID && n.UID == keeper.UID() })

		stop()
		again := live().UID
		c.Eventually(5*time.Minute, "the node to be unreachable", func() bool {
			return ready() == corev1.ConditionUnknown && slices.ContainsFunc(live().Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnreachable })
		})
		next, _ := keepNode(t, k, provider, virtual())
		c.Eventually(5*time.Minute, "the node to be Ready again", func() bool { return ready() == corev1.ConditionTrue && len(live().Spec.Taints) == 0 })
		if n := live(); n.UID != again || next.UID() != again {
			t.Errorf("found UID %s, want that of before, %s", n.UID, again)
		}
	})
}

// A provider whose ping fails has the lease expire, and the node be unreachable until it answers again.
func TestANodeWhosePingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 1}))
		c.Start()
		k := clients(t, c)
		p := &pinged{NaiveNodeProvider: virtualnode.NaiveNodeProvider{}, ok: make(chan bool, 1)}
		p.ok <- true
		keepNode(t, k, p, virtual())
		c.Eventually(time.Minute, "two nodes to be Ready", func() bool { return len(readyNodes(t, k)) == 2 })
		<-p.ok
		c.Eventually(5*time.Minute, "the node not to be Ready", func() bool { return len(readyNodes(t, k)) == 1 })
		p.ok <- true
		c.Eventually(5*time.Minute, "the node to be Ready again", func() bool { return len(readyNodes(t, k)) == 2 })
	})
}

// pinged answers while its channel holds something.
type pinged struct {
	virtualnode.NaiveNodeProvider
	ok chan bool
}

func (p *pinged) Ping(context.Context) error {
	if len(p.ok) == 0 {
		return context.DeadlineExceeded
	}
	return nil
}
