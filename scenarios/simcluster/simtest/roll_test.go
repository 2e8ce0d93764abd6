package simtest_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

const (
	rolledNodes, rolledPods = 20, 200

	// eachNode is how long the roller takes for a node, if nothing takes it longer.
	eachNode = 2 * time.Minute
)

const rolledFleet = `
apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: fleet, title: twenty nodes}
cluster: {provider: eks}
groups: [{name: workers, nodes: 20, instanceType: m5.xlarge}]
workloads: [{name: web, namespace: shop, replicas: 200, requests: {cpu: 100m}}]
budgets: [{workload: web, maxUnavailable: 8}]
`

// roller puts a new node in the place of each, one after the other: it waits for the new one to be Ready, cordons the old
// one, evicts its pods, and deletes it.
type roller struct {
	client.Client
	direct client.Reader // for pods by their node
	begun  time.Time     // of the node that it is at
	done   chan string   // nodes that are gone
}

func (r *roller) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	var nodes corev1.NodeList
	if err := r.List(ctx, &nodes); err != nil {
		return ctrl.Result{}, err
	}
	slices.SortFunc(nodes.Items, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	old := slices.IndexFunc(nodes.Items, func(n corev1.Node) bool { return !strings.HasPrefix(n.Name, "new-") })
	if old < 0 {
		return ctrl.Result{}, nil
	}
	n := &nodes.Items[old]
	if !n.Spec.Unschedulable {
		return r.begin(ctx, n, nodes.Items)
	}
	var pods corev1.PodList
	if err := r.direct.List(ctx, &pods, client.MatchingFields{"spec.nodeName": n.Name}, client.MatchingLabels{"app": "web"}); err != nil {
		return ctrl.Result{}, err
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp != nil {
			continue
		}
		err := r.SubResource("eviction").Create(ctx, &pods.Items[i], &policyv1.Eviction{})
		if apierrors.IsTooManyRequests(err) {
			break
		}
		if client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
	}
	if len(pods.Items) > 0 {
		return ctrl.Result{RequeueAfter: 5 * time.Second}, nil
	}
	if err := r.Delete(ctx, n); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) // it was in the cache still
	}
	r.done <- n.Name
	return ctrl.Result{}, nil
}

// begin makes the new node, and cordons the old one once that is Ready and it is time.
func (r *roller) begin(ctx context.Context, n *corev1.Node, all []corev1.Node) (ctrl.Result, error) {
	name := "new-" + n.Name
	at := slices.IndexFunc(all, func(n corev1.Node) bool { return n.Name == name })
	if at < 0 {
		next := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}},
			Status:     corev1.NodeStatus{Capacity: n.Status.Capacity, Allocatable: n.Status.Allocatable},
		}
		if err := r.Create(ctx, next); err != nil && !apierrors.IsAlreadyExists(err) {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, nil
	}
	ready := slices.ContainsFunc(all[at].Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	if !ready {
		return ctrl.Result{}, nil
	}
	if left := time.Until(r.begun.Add(eachNode)); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	r.begun = time.Now()
	return ctrl.Result{}, r.Patch(ctx, n, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"unschedulable":true}}`)))
}

// rolls is a whole test of such a reconciler.
func rolls(t *testing.T) {
	d, err := scenarios.Parse("fleet", []byte(rolledFleet))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		c := simtest.New(t, simcluster.AtRest(simcluster.File(f)))
		m := c.Manager(ctrl.Options{})
		r := &roller{Client: m.GetClient(), direct: m.GetAPIReader(), done: make(chan string, rolledNodes)}
		if err := ctrl.NewControllerManagedBy(m).Named("roller").For(&corev1.Node{}).Complete(r); err != nil {
			t.Fatal(err)
		}
		c.Start(m)
		c.Eventually(2*time.Hour, "all nodes to be replaced", func() bool { return len(r.done) == rolledNodes })
		took := c.Player().Position()
		c.Eventually(10*time.Minute, "all pods to run", func() bool { return c.Ready("shop", "app=web") == rolledPods })
		if took < 38*time.Minute || took > 45*time.Minute || len(c.Nodes()) != rolledNodes {
			t.Errorf("it took %s, and %d nodes are there: want some 40 minutes and %d", took, len(c.Nodes()), rolledNodes)
		}
	})
}

func TestAReconcilerRollsTwentyNodes(t *testing.T) { rolls(t) }

// BenchmarkRoll is the whole test of a reconciler that replaces 20 nodes with 200 pods under a budget in 40 minutes of the
// cluster: 500 ms.
func BenchmarkRoll(b *testing.B) {
	b.ReportAllocs()
	all := func(string, string) (bool, error) { return true, nil }
	for b.Loop() {
		if !testing.RunTests(all, []testing.InternalTest{{Name: "roll", F: rolls}}) {
			b.Fatal("the test fails")
		}
	}
}
