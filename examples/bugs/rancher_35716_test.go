package bugs

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

// https://github.com/rancher/rancher/pull/35716
//
// An upgrade drained more nodes at the same time than its concurrency allows. It counted a node as unavailable from the
// moment that its new plan was assigned; a node that is drained first has none yet, so the next round began with the
// next node.
//
// Mended by counting nodes that are drained. In the simulated cluster drains take time, since the budget wants ten of
// twelve pods.
func TestRancher35716(t *testing.T) {
	shows(t, upgradeNodes, "6 nodes were cordoned at a time", "1 nodes were cordoned at a time")
}

// upgrade gives nodes a new plan: it cordons a node, drains it, assigns the plan, and uncordons it in the next round.
type upgrade struct {
	cluster *simtest.Cluster
	mended  bool
}

const (
	plan        = "plan" // the label that says which plan a node has
	assigned    = "new"
	concurrency = 1
)

func (u *upgrade) unavailable(n *corev1.Node) bool {
	return n.Spec.Unschedulable && (n.Labels[plan] == assigned || u.mended)
}

// round takes nodes one step further, and returns how many are cordoned now and how many have the plan.
func (u *upgrade) round(ctx context.Context) (cordoned, done int, err error) {
	nodes, unavailable := u.cluster.Nodes(), 0
	for i := range nodes {
		if u.unavailable(&nodes[i]) {
			unavailable++
		}
	}
	for i := range nodes {
		n := &nodes[i]
		was := *n.DeepCopy()
		switch has := n.Labels[plan] == assigned; {
		case has:
			n.Spec.Unschedulable = false
			done++
		case n.Spec.Unschedulable:
			if u.drained(ctx, n) {
				n.Labels[plan] = assigned
			}
		case unavailable < concurrency:
			n.Spec.Unschedulable = true
			if u.unavailable(n) {
				unavailable++
			}
		}
		if n.Spec.Unschedulable {
			cordoned++
		}
		if err := u.cluster.Client.Patch(ctx, n, client.MergeFrom(&was)); err != nil {
			return 0, 0, err
		}
	}
	return cordoned, done, nil
}

// drained evicts what is on a node and what the budget allows, and reports whether nothing is on it.
func (u *upgrade) drained(ctx context.Context, n *corev1.Node) bool {
	pods := u.cluster.Pods("shop", "app=web", n.Name)
	for _, p := range pods {
		_ = u.cluster.Client.SubResource("eviction").Create(ctx, &p, &policyv1.Eviction{}) // refused is for the next round
	}
	return len(pods) == 0
}

func upgradeNodes(t *testing.T, mended bool) string {
	c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")))
	c.Start()
	u, most := &upgrade{c, mended}, 0
	for began := c.Player().Position(); c.Player().Position() < began+time.Hour; {
		cordoned, done, err := u.round(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, cordoned)
		if done == len(c.Nodes()) {
			return fmt.Sprintf("%d nodes were cordoned at a time", most)
		}
		<-time.After(30 * time.Second)
	}
	return fmt.Sprintf("%d nodes are cordoned at a time, and the upgrade doesn't end", most)
}
