package fakeclient

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// guarded is the small roll with a budget over the pod p that is spent.
func guarded(t *testing.T) *Client {
	t.Helper()
	h := header()
	h.Resources = append(h.Resources, timeline.Resource{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true})
	budget := timeline.Event{Type: timeline.Added, Resource: "poddisruptionbudgets.policy", Namespace: "default", Name: "b", UID: "uid-b", RV: "40", Object: []byte(
		`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"default","uid":"uid-b","resourceVersion":"40"},` +
			`"spec":{"selector":{"matchLabels":{"pool":"x"}}},"status":{"currentHealthy":1,"desiredHealthy":1}}`)}
	pod := object(0, timeline.Added, "pods", "default/p", 20, `{"nodeName":"a","terminationGracePeriodSeconds":30},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`)
	c, err := New(replay.Events(h, append([]timeline.Event{budget, synced("poddisruptionbudgets.policy", 53), pod}, start()[:3]...)), WithWrites(Record))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestWritesAreValidated: typed clients get a server's errors and objects.
func TestWritesAreValidated(t *testing.T) {
	c := guarded(t)
	ctx := t.Context()
	pods, nodes := c.CoreV1().Pods("default"), c.CoreV1().Nodes()
	err := pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}})
	if !apierrors.IsTooManyRequests(err) || !apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
		t.Errorf("an eviction against a spent budget: %v", err)
	}
	_, err = nodes.Patch(ctx, "a", types.StrategicMergePatchType, []byte(`{"spec":{"taints":[{"key":"k","effect":"Never"}]}}`), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("a taint of no effect: %v", err)
	}
	_, err = nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "No!"}}, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("a bad name: %v", err)
	}
	p, err := pods.Patch(ctx, "p", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"1"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || p.Annotations["a"] != "1" || p.UID != "uid-default/p" {
		t.Errorf("a dry run: %+v %v", p, err)
	}
	n, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "n-"}}, metav1.CreateOptions{})
	if err != nil || n.Name != "n-00001" || n.UID == "" || n.CreationTimestamp.IsZero() || len(n.Spec.Taints) != 1 {
		t.Errorf("a new node: %+v %v", n, err)
	}
	equal(t, "log", c.WriteLog(), strings.TrimPrefix(`
patch pods default/p merge {"metadata":{"annotations":{"a":"1"}}} (dry run)
create nodes n-00001
`, "\n"))
}

// TestLeaderElection: a controller that waits to be elected gets to work, though
// the tape holds no leases, and steps down as it would.
func TestLeaderElection(t *testing.T) {
	c := client(t, roll(), WithWrites(Record))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	led := false
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "lock"}, Client: c.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 10 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				led = true
				for len(c.Writes()) < 3 { // elected, and renewed twice
					select {
					case <-time.After(time.Millisecond):
					case <-ctx.Done():
						return
					}
				}
				cancel()
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Run(ctx)
	w := c.Writes()
	if !led || len(w) < 3 || w[0].String() != "create leases.coordination.k8s.io kube-system/lock" || w[1].Verb != "update" {
		t.Errorf("led: %v, %s", led, fmt.Sprint(w))
	}
}
