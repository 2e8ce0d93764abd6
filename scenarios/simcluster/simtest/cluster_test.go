package simtest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

// counted is a reconciler that counts.
type counted struct{ calls atomic.Int32 }

func (c *counted) Reconcile(context.Context, ctrl.Request) (ctrl.Result, error) {
	c.calls.Add(1)
	return ctrl.Result{}, nil
}

// counting makes a manager, one of several of which one leads, with a reconciler of nodes.
func counting(t *testing.T, c *simtest.Cluster) (ctrl.Manager, *counted) {
	t.Helper()
	m := c.Manager(ctrl.Options{LeaderElection: true, LeaderElectionID: "counter", LeaderElectionNamespace: "shop", LeaderElectionReleaseOnCancel: true})
	r := &counted{}
	if err := ctrl.NewControllerManagedBy(m).Named("counter").For(&corev1.Node{}).Complete(reconcile.Reconciler(r)); err != nil {
		t.Fatal(err)
	}
	return m, r
}

// Of two managers one leads and works; when it ends, the other leads. The Lease is an object of the cluster.
func TestOneOfTwoManagersLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")))
		first, does := counting(t, c)
		second, waits := counting(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- first.Start(ctx) }()
		c.Start()
		c.Eventually(time.Minute, "the first manager to work", func() bool { return does.calls.Load() > 0 })
		go func() { ended <- second.Start(t.Context()) }()
		if err := c.RunUntil(t.Context(), 5*time.Minute, "the second manager to work", func() bool { return waits.calls.Load() > 0 }); err == nil {
			t.Error("two managers lead")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		c.Eventually(time.Minute, "the second manager to work", func() bool { return waits.calls.Load() > 0 })
		t.Cleanup(func() {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	})
}

// Without a bubble the clients work as well.
func TestReaders(t *testing.T) {
	c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")))
	nodes, pods := c.Nodes(), c.Pods("shop", "app=web", "")
	if len(nodes) != 6 || len(pods) != 12 || c.Ready("shop", "app=web") != 12 {
		t.Errorf("%d nodes, %d pods, %d ready", len(nodes), len(pods), c.Ready("shop", "app=web"))
	}
	on := 0
	for _, n := range nodes {
		on += len(c.Pods("", "app=web", n.Name))
	}
	if on != len(pods) {
		t.Errorf("%d pods on nodes, want %d", on, len(pods))
	}
	if feed := c.Feed(); feed != "" {
		t.Errorf("found a feed of a cluster at rest: %s", feed)
	}
}

// A priority queue that never ends would hang the bubble: managers have none unless they are asked for.
func TestManagersHaveNoPriorityQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")))
		if is := c.Manager(ctrl.Options{}).GetControllerOptions().UsePriorityQueue; is == nil || *is {
			t.Errorf("found UsePriorityQueue %v, want false", is)
		}
		asked := true
		o := ctrl.Options{}
		o.Controller.UsePriorityQueue = &asked
		if is := c.Manager(o).GetControllerOptions().UsePriorityQueue; is == nil || !*is {
			t.Errorf("found UsePriorityQueue %v where it was asked for", is)
		}
	})
}
