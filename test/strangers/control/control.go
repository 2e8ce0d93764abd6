// Package control runs strangers on a real control plane: etcd, kube-apiserver, kube-controller-manager and kube-scheduler,
// with nodes whose kubelets are simulated.
package control

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/test/strangers/place"
)

// Plane runs a stranger on a control plane of its own.
func Plane(t *testing.T, stranger func(*place.Place)) {
	t.Helper()
	PlaneWith(t, place.Nodes, stranger)
}

// PlaneWith does so with another number of nodes.
func PlaneWith(t *testing.T, nodes int, stranger func(*place.Place)) {
	t.Helper()
	c := testcluster.New(t, testcluster.Options{})
	if err := c.StartControllers(); err != nil {
		t.Fatal(err)
	}
	group := testcluster.Group{Name: "workers", CPU: "2", Memory: "8Gi"}
	if err := group.JoinAll(t.Context(), c.Client(), 1, nodes, "image-1"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	stranger(place.New(t, c.Config))
	t.Logf("%.1f s", time.Since(began).Seconds())
}
