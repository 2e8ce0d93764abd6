package simcluster_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/simcluster"
)

// In the cluster of standby-pools nodemanager answers to clients: a pod that names it as its scheduler gets a node of the
// pool at once, the pool is filled up, and the node goes with the pod. The same writes make the same tape.
func TestStandbyPoolsAnswer(t *testing.T) {
	var tapes [2]bytes.Buffer
	for i := range tapes {
		synctest.Test(t, func(t *testing.T) {
			c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("standby-pools")))
			c.Start()
			k := clients(t, c)
			pods := k.CoreV1().Pods("default")
			p := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "mine"},
				Spec: corev1.PodSpec{
					SchedulerName: "nodemanager", Tolerations: []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}},
					NodeSelector: map[string]string{"eks.amazonaws.com/nodegroup": "runners"},
					Containers:   []corev1.Container{{Name: "a", Image: "registry.example/a:1"}},
				},
			}
			if _, err := pods.Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			c.Eventually(3*time.Minute, "the pod to run", func() bool {
				var err error
				if p, err = pods.Get(t.Context(), "mine", metav1.GetOptions{}); err != nil {
					t.Fatal(err)
				}
				return isReady(p)
			})
			c.Eventually(5*time.Minute, "another node in the pool", func() bool { return len(readyNodes(t, k)) == 2+3 })
			if err := pods.Delete(t.Context(), "mine", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			c.Eventually(5*time.Minute, "the node to go with the pod", func() bool {
				_, err := k.CoreV1().Nodes().Get(t.Context(), p.Spec.NodeName, metav1.GetOptions{})
				return apierrors.IsNotFound(err)
			})
			c.Eventually(5*time.Minute, "two workers, the pool, and one node for each of the scenario's own four jobs", func() bool {
				return len(readyNodes(t, k)) == 2+2+4
			})
			sound(t, c)
			if err := c.WriteTape(&tapes[i]); err != nil {
				t.Fatal(err)
			}
		})
	}
	if !bytes.Equal(tapes[0].Bytes(), tapes[1].Bytes()) {
		t.Error("the second tape differs from the first")
	}
}
