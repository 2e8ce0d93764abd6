package bugs

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

// https://github.com/kubernetes-sigs/karpenter/pull/998
//
// The eviction queue knew pods by namespace and name. A pod of a StatefulSet that had meanwhile been made again, on
// another node, has the same name, and was evicted in place of the one that was meant.
//
// Mended by the pod's UID as a precondition of the eviction, which the API server answers with 409. The simulated
// StatefulSet controller makes the pod again.
func TestKarpenter998(t *testing.T) {
	shows(t, evictQueued, "queue-0 is evicted from a node that isn't drained", "queue-0 stays")
}

func evictQueued(t *testing.T, mended bool) string {
	c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")))
	c.Start()
	pods := c.Kube.CoreV1().Pods("shop")
	get := func() *corev1.Pod {
		p, err := pods.Get(t.Context(), "queue-0", metav1.GetOptions{})
		if err != nil {
			return &corev1.Pod{} // between two of its name
		}
		return p
	}
	queued := get()
	drained := nodeNamed(t, c, queued.Spec.NodeName)
	drained.Spec.Unschedulable = true
	if err := c.Client.Update(t.Context(), drained); err != nil {
		t.Fatal(err)
	}
	// Before the queue comes to it, the pod is deleted by somebody else, and is back elsewhere.
	if err := pods.Delete(t.Context(), queued.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Eventually(10*time.Minute, "queue-0 to run on another node", func() bool {
		p := get()
		return p.UID != queued.UID && p.Spec.NodeName != drained.Name && p.Status.Phase == corev1.PodRunning && c.Ready("shop", "app=queue") == 2
	})
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: queued.Namespace, Name: queued.Name}}
	if mended {
		eviction.DeleteOptions = &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(queued.UID))}
	}
	c.Eventually(10*time.Minute, "the budget to allow the eviction", func() bool {
		err := pods.EvictV1(t.Context(), eviction)
		if err != nil && !apierrors.IsTooManyRequests(err) && !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
		return !apierrors.IsTooManyRequests(err)
	})
	if get().DeletionTimestamp != nil {
		return "queue-0 is evicted from a node that isn't drained"
	}
	return "queue-0 stays"
}
