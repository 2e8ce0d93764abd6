package live

import (
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
)

// Workloads come when all nodes take pods and the server has said nothing for a while:
// a scheduler that hasn't learned of a node yet would leave it empty.
func TestWorkloadsWaitForNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &prerequisites{label: "surge", client: dynamicfake.NewSimpleDynamicClient(scheme.Scheme)}
		web, err := g.plan(&appsv1.Deployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := &run{
			Runner: &Runner{clock: clock.RealClock{}}, later: []planned{web},
			apiServer: &apiServer{prerequisites: g, writeQueue: newWriteQueue(t.Context(), func(err error) { t.Error(err) })},
		}
		defer r.apiServer.writeQueue.close()
		brought := func(missing ...string) bool {
			r.createWorkloads(missing)
			if err := r.apiServer.writeQueue.delivered(t.Context()); err != nil {
				t.Fatal(err)
			}
			list, err := g.client.Resource(web.resource).Namespace("shop").List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Items) == 1
		}
		<-time.After(quietMost) // of the bubble's clock
		if brought("node a isn't Ready") || brought("node a has the taint node.kubernetes.io/not-ready") {
			t.Fatal("brought while a node takes no pods")
		}
		r.lastEvent = time.Now()
		if brought() {
			t.Fatal("brought when the last node has just become free")
		}
		<-time.After(quietFor)
		if !brought("0 of 6 pods of shop/web run") {
			t.Fatal("not brought when all nodes take pods and the server is quiet")
		}
		if len(r.later) > 0 {
			t.Errorf("%d workloads are still to come", len(r.later))
		}
	})
}
