package simcluster_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios/simcluster"
)

// A cluster continues with the EndpointSlices that are on its tape, and puts right what a client does to them.
func TestEndpointSlicesOfATape(t *testing.T) {
	recorded := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
	web := service("web", corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Name: "http", Port: 80}}})
	if _, err := clients(t, recorded).CoreV1().Services("shop").Create(t.Context(), web, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pass := func(c *simcluster.TestCluster) []discoveryv1.EndpointSlice {
		t.Helper()
		if err := c.RunFor(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		l, err := clients(t, c).DiscoveryV1().EndpointSlices("shop").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return l.Items
	}
	was := pass(recorded)
	if len(was) != 1 || len(was[0].Endpoints) != 12 {
		t.Fatalf("EndpointSlices %+v", was)
	}
	c := simcluster.ForTest(t, simcluster.Tape(recorded.Tape(), replay.End))
	is := pass(c)
	if len(is) != 1 || is[0].UID != was[0].UID || len(is[0].Endpoints) != 12 {
		t.Fatalf("EndpointSlices %+v", is)
	}
	k := clients(t, c)
	if err := k.CoreV1().Pods("shop").Delete(t.Context(), is[0].Endpoints[0].TargetRef.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if is = pass(c); len(is) != 1 || len(is[0].Endpoints) != 12 {
		t.Fatalf("EndpointSlices after a pod's end: %+v", is)
	}
	no := false
	is[0].Endpoints = []discoveryv1.Endpoint{{Addresses: []string{"10.9.9.9"}, Conditions: discoveryv1.EndpointConditions{Ready: &no}}}
	if _, err := k.DiscoveryV1().EndpointSlices("shop").Update(t.Context(), &is[0], metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if is = pass(c); len(is) != 1 || len(is[0].Endpoints) != 12 || is[0].UID != was[0].UID {
		t.Fatalf("EndpointSlices after a client's edit: %+v", is)
	}
}
