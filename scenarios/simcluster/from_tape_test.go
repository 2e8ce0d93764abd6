package simcluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/timeline"
)

// A cluster begins with what is on a tape in the middle of its roll, and goes on: a pod that is deleted comes back.
func TestFromATape(t *testing.T) {
	for _, at := range []time.Duration{20 * time.Second, replay.End} {
		synctest.Test(t, func(t *testing.T) { goesOn(t, timeline.File("../../examples/surge.yaml"), at) })
	}
}

func goesOn(t *testing.T, src timeline.Source, at time.Duration) {
	c := simcluster.ForTest(t, simcluster.Tape(src, at))
	c.Start()
	k := clients(t, c)
	pods := func() (ready map[string]corev1.Pod, all int) {
		list, err := k.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ready = map[string]corev1.Pod{}
		for _, p := range list.Items {
			if isReady(&p) && p.DeletionTimestamp == nil {
				ready[p.Name] = p
			}
		}
		return ready, len(list.Items)
	}
	c.Eventually(30*time.Minute, "all pods to be Ready", func() bool {
		ready, all := pods()
		return len(ready) == all
	})
	ready, want := pods()
	for _, p := range ready {
		if p.Namespace == "kube-system" {
			continue
		}
		if err := k.CoreV1().Pods(p.Namespace).Delete(t.Context(), p.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		break
	}
	c.Eventually(30*time.Minute, "the pod's successor", func() bool {
		ready, all := pods()
		return all == want && len(ready) == want
	})
	sound(t, c)
}
