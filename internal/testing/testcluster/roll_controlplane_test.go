//go:build controlplane

package testcluster_test

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// web is a workload whose budget is tight enough to refuse evictions.
var web = testcluster.Workload{Replicas: 6, MinAvailable: 5}

func nodeNames(t *testing.T, client kubernetes.Interface, g testcluster.Group) []string {
	t.Helper()
	list, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: g.Selector()})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, node := range list.Items {
		names = append(names, node.Name)
	}
	slices.Sort(names)
	return names
}

// A whole roll on a real control plane: the budget refuses evictions, and the roll still ends with every replica on
// new nodes. Afterwards one new node is silent for a while and another one vanishes.
func TestRollAndVanish(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.New(t, testcluster.Options{NodeGrace: 8 * time.Second})
	if err := cluster.StartControllers(); err != nil {
		t.Fatal(err)
	}
	client, group := cluster.Client(), testcluster.Group{Name: "spot-burst"}
	if err := group.JoinAll(ctx, client, 1, 2, "ami-0a1b"); err != nil {
		t.Fatal(err)
	}
	if err := web.Create(ctx, client, group); err != nil {
		t.Fatal(err)
	}
	report, err := testcluster.Roll{
		Group: group,
		Done:  func(step string) { t.Log(step) },
	}.Run(ctx, client)
	if err != nil {
		t.Fatal(err)
	}
	if err := web.AtRest(ctx, client); err != nil {
		t.Fatal(err)
	}
	want := []string{"ip-10-0-2-10", "ip-10-0-2-11"}
	if got := nodeNames(t, client, group); !slices.Equal(got, want) || !slices.Equal(report.Joined, want) {
		t.Errorf("nodes after the roll: found %v (reported %v), want %v", got, report.Joined, want)
	}
	evicted, refused := 0, 0
	for _, node := range report.Deleted {
		evicted += report.Evicted[node]
		refused += report.Refused[node]
	}
	if len(report.Deleted) != 2 || evicted < int(web.Replicas) || refused == 0 {
		t.Errorf("report: found %+v, want 2 nodes deleted, at least %d evictions, and some refused", report, web.Replicas)
	}

	// A short silence: noticed, and forgiven.
	if err := testcluster.SilenceKubelet(ctx, client, "ip-10-0-2-10"); err != nil {
		t.Fatal(err)
	}
	if err := testcluster.UntilUnknown(ctx, client, "ip-10-0-2-10"); err != nil {
		t.Fatal(err)
	}
	if err := testcluster.WakeKubelet(ctx, client, "ip-10-0-2-10"); err != nil {
		t.Fatal(err)
	}
	if err := testcluster.UntilReady(ctx, client, "ip-10-0-2-10"); err != nil {
		t.Fatal(err)
	}
	t.Log("woke ip-10-0-2-10")
	if err := testcluster.Vanish(ctx, client, "ip-10-0-2-11"); err != nil {
		t.Fatal(err)
	}
	t.Log("vanished ip-10-0-2-11")
	if err := testcluster.UntilNoPods(ctx, client, "ip-10-0-2-11"); err != nil {
		t.Fatal(err)
	}
	if err := web.AtRest(ctx, client); err != nil {
		t.Fatal(err)
	}
	if err := cluster.ControllersAlive(); err != nil {
		t.Error(err)
	}
}
