package simcluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

// A virtual node of package virtualnode, its controllers of the Node and of pods included, joins the cluster as any client
// does: it stays Ready by its Lease, and runs what is scheduled to it. Without them it is unreachable.
func TestAVirtualNodeJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 1}))
		c.Start()
		k := clients(t, c)
		node, err := virtualnode.NewNode("virtual-1", k, virtualnode.NewMockProvider(nil), func(c *virtualnode.NodeConfig) {
			c.Node.Labels["kind"] = "virtual"
			c.Node.Spec.Taints = nil
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = node.Run(ctx) }() // Err has what it returns
		<-node.Ready()
		c.Eventually(5*time.Minute, "the node to be Ready", func() bool { return len(readyNodes(t, k)) == 2 })
		get := runsOn(t, c, k, "virtual", "virtual-1")
		<-time.After(20 * time.Minute)
		if got := len(readyNodes(t, k)); got != 2 {
			t.Errorf("%d nodes are Ready after 20 minutes, want 2", got)
		}
		if err := k.CoreV1().Pods("default").Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(5*time.Minute, "the pod to go", func() bool { _, err := get(); return apierrors.IsNotFound(err) })
		cancel()
		<-node.Done()
		c.Eventually(10*time.Minute, "the node to be gone, or not Ready", func() bool { return len(readyNodes(t, k)) == 1 })
	})
}
