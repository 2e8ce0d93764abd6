package bugs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// https://github.com/kubernetes/autoscaler/pull/5200
//
// A node stayed tainted with ToBeDeletedByClusterAutoscaler, and no pod came to it any more. An autoscaler that starts
// takes back what the one before it had begun, but only from nodes that were Ready at that moment.
//
// Mended by all nodes. Here the kubelet is silent while the autoscaler starts, and comes back.
func TestAutoscaler5200(t *testing.T) {
	shows(t, restartAutoscaler, "Ready: true, to be deleted: true", "Ready: true, to be deleted: false")
}

const toBeDeleted = "ToBeDeletedByClusterAutoscaler"

func isToBeDeleted(t corev1.Taint) bool { return t.Key == toBeDeleted }

func restartAutoscaler(t *testing.T, mended bool) string {
	c := simtest.New(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 3}))
	c.Start()
	victim := &c.Nodes()[0]
	name := victim.Name
	victim.Spec.Taints = append(victim.Spec.Taints, corev1.Taint{Key: toBeDeleted, Effect: corev1.TaintEffectNoSchedule})
	if err := c.Client.Update(t.Context(), victim); err != nil {
		t.Fatal(err)
	}
	if err := c.Do(spec.Fault{KubeletDown: &spec.Down{Victims: spec.Victims{Node: name}, For: 3 * time.Minute}}); err != nil {
		t.Fatal(err)
	}
	c.Eventually(3*time.Minute, "the node to fall silent", func() bool { return !isReady(nodeNamed(t, c, name)) })
	for _, n := range c.Nodes() { // the autoscaler starts
		if !mended && !isReady(&n) || !slices.ContainsFunc(n.Spec.Taints, isToBeDeleted) {
			continue
		}
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, isToBeDeleted)
		if err := c.Client.Update(t.Context(), &n); err != nil {
			t.Fatal(err)
		}
	}
	c.Eventually(10*time.Minute, "the node to be back", func() bool { return isReady(nodeNamed(t, c, name)) })
	<-time.After(10 * time.Minute)
	n := nodeNamed(t, c, name)
	return fmt.Sprintf("Ready: %t, to be deleted: %t", isReady(n), slices.ContainsFunc(n.Spec.Taints, isToBeDeleted))
}
