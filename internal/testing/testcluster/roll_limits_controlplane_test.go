//go:build controlplane

package testcluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// controlled starts a cluster with controllers, and a group of two old nodes under a workload.
func controlled(ctx context.Context, t *testing.T, g testcluster.Group, w testcluster.Workload) kubernetes.Interface {
	t.Helper()
	cluster := testcluster.New(t, testcluster.Options{})
	if err := cluster.StartControllers(); err != nil {
		t.Fatal(err)
	}
	if err := g.JoinAll(ctx, cluster.Client(), 1, 2, "ami-0a1b"); err != nil {
		t.Fatal(err)
	}
	if err := w.Create(ctx, cluster.Client(), g); err != nil {
		t.Fatal(err)
	}
	return cluster.Client()
}

// A budget that allows nothing: without force the roll stops at its time limit and leaves a cordoned node with its
// pods; with force it continues from there, and every pod ends without a trace of an eviction.
func TestRollReachesItsEvictionTimeout(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	group, locked := testcluster.Group{}, testcluster.Workload{Replicas: 4, MinAvailable: 4}
	client := controlled(ctx, t, group, locked)
	roll := testcluster.Roll{Group: group, EvictionTimeout: 2 * time.Second, Done: func(step string) { t.Log(step) }}

	report, err := roll.Run(ctx, client)
	if !errors.Is(err, testcluster.ErrEvictionTimeout) || !strings.Contains(err.Error(), "wait for the pods to leave ip-10-0-1-10") {
		t.Fatalf("without force: found error %v, want that of the time limit at ip-10-0-1-10", err)
	}
	if len(report.Deleted) > 0 || len(report.Forced) > 0 || report.Refused["ip-10-0-1-10"] == 0 {
		t.Errorf("without force: found %+v, want refusals and nothing deleted", report)
	}
	stuck, err := client.CoreV1().Nodes().Get(ctx, "ip-10-0-1-10", metav1.GetOptions{})
	if err != nil || !stuck.Spec.Unschedulable {
		t.Errorf("the node: found unschedulable %t, %v, want it cordoned", stuck.Spec.Unschedulable, err)
	}
	if err := locked.AtRest(ctx, client); err != nil {
		t.Error(err)
	}

	roll.Force, roll.Generation = true, 3
	watch, err := client.CoreV1().Pods(metav1.NamespaceDefault).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	report, err = roll.Run(ctx, client)
	if err != nil {
		t.Fatal(err)
	}
	// What joined for the first attempt is old by now.
	want := []string{"ip-10-0-1-10", "ip-10-0-1-11", "ip-10-0-2-10"}
	if !slices.Equal(report.Deleted, want) || report.Forced["ip-10-0-1-10"] == 0 {
		t.Errorf("with force: found %+v, want %v deleted, and pods forced", report, want)
	}
	gone, forced := 0, 0
	for _, n := range report.Forced {
		forced += n
	}
	for range 1000 {
		if gone == forced {
			break
		}
		event, open := <-watch.ResultChan()
		if pod, ok := event.Object.(*corev1.Pod); ok && event.Type == "DELETED" {
			gone++
			for _, condition := range pod.Status.Conditions {
				if condition.Type == corev1.DisruptionTarget {
					t.Errorf("%s: found %+v, want none after a plain deletion", pod.Name, condition)
				}
			}
		} else if !open {
			t.Fatal("the watch ended early")
		}
	}
	if gone != forced {
		t.Errorf("found %d pods gone, want %d", gone, forced)
	}
}

// The order of a managed node group: every old node is cordoned before the first pod leaves, and what joined for the
// surge goes at the end.
func TestRollOfAManagedNodeGroup(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	group, roomy := testcluster.Group{}, testcluster.Workload{Replicas: 4, MinAvailable: 2}
	client := controlled(ctx, t, group, roomy)
	watch, err := client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{LabelSelector: group.Selector()})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	report, err := testcluster.Roll{
		Group: group, Surge: 2, CordonAll: true, AfterDrain: 100 * time.Millisecond, Done: func(step string) { t.Log(step) },
	}.Run(ctx, client)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"ip-10-0-2-10", "ip-10-0-2-11", "ip-10-0-2-12", "ip-10-0-2-13"}; !slices.Equal(report.Joined, want) {
		t.Errorf("joined: found %v, want %v", report.Joined, want)
	}
	want := []string{
		"joined ip-10-0-2-10", "joined ip-10-0-2-11", "out ip-10-0-1-10", "out ip-10-0-1-11", "gone ip-10-0-1-10",
		"joined ip-10-0-2-12", "gone ip-10-0-1-11", "joined ip-10-0-2-13", "out ip-10-0-2-13",
		"gone ip-10-0-2-13", "out ip-10-0-2-12", "gone ip-10-0-2-12",
	}
	seen, state := []string{}, map[string]string{"ip-10-0-1-10": "joined", "ip-10-0-1-11": "joined"}
	for range 1000 {
		if len(seen) == len(want) {
			break
		}
		event, open := <-watch.ResultChan()
		if !open {
			t.Fatal("the watch ended early")
		}
		node := event.Object.(*corev1.Node)
		now := "joined"
		switch excluded := node.Labels[corev1.LabelNodeExcludeBalancers] == "true"; {
		case event.Type == "DELETED":
			now = "gone"
		case node.Spec.Unschedulable && excluded:
			now = "out"
		case node.Spec.Unschedulable:
			now = "cordoned"
		}
		if state[node.Name] != now {
			state[node.Name] = now
			seen = append(seen, now+" "+node.Name)
		}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("the nodes:\nfound %v\nwant  %v", seen, want)
	}
	if got, want := nodeNames(t, client, group), []string{"ip-10-0-2-10", "ip-10-0-2-11"}; !slices.Equal(got, want) {
		t.Errorf("nodes at the end: found %v, want %v", got, want)
	}
	if err := roomy.AtRest(ctx, client); err != nil {
		t.Error(err)
	}
}
