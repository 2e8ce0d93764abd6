// Package place is where strangers run: a cluster, simulated or a real control plane with virtual nodes, with something on
// its nodes that they may displace, and what their tests want of it.
package place

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Nodes is how many nodes a place has in the beginning.
const Nodes = 4

// A Place is a cluster in which a stranger runs.
type Place struct {
	*testing.T
	Config func() *rest.Config
	Kube   kubernetes.Interface
}

// New makes a Place of a cluster.
func New(t *testing.T, config func() *rest.Config) *Place {
	t.Helper()
	k, err := kubernetes.NewForConfig(config())
	if err != nil {
		t.Fatal(err)
	}
	return &Place{T: t, Config: config, Kube: k}
}

// Simulated runs a stranger in a simulated cluster. The minutes that it takes are the bubble's.
func Simulated(t *testing.T, stranger func(*Place)) {
	t.Helper()
	SimulatedWith(t, Nodes, stranger)
}

// SimulatedWith does so in a cluster with another number of nodes.
func SimulatedWith(t *testing.T, nodes int, stranger func(*Place)) {
	t.Helper()
	SimulatedOn(t, spec.Cluster{}, nodes, stranger)
}

// SimulatedOn does so in a cluster of another provider.
func SimulatedOn(t *testing.T, cluster spec.Cluster, nodes int, stranger func(*Place)) {
	t.Helper()
	began := time.Now()
	defer func() { t.Logf("%.2f s", time.Since(began).Seconds()) }()
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(cluster, spec.Group{Name: "workers", Nodes: nodes}))
		c.Start()
		stranger(New(t, c.RESTConfig))
		t.Logf("%s of the cluster's time", c.Player().Position().Round(time.Second))
	})
}

// Eventually waits until a condition holds.
func (p *Place) Eventually(limit time.Duration, what string, ok func() (bool, string)) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), limit)
	defer cancel()
	for {
		holds, found := ok()
		if holds {
			return
		}
		select {
		case <-ctx.Done():
			p.Fatalf("wait for %s: it didn't happen in %s: found %s", what, limit, found)
		case <-time.After(time.Second):
		}
	}
}

// Must ends the test at an error.
func (p *Place) Must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// During runs a controller until the test of it is done, and waits for its end.
func (p *Place) During(control func(context.Context) error, do func()) {
	p.Helper()
	ctx, cancel := context.WithCancel(p.Context())
	ended := make(chan error, 1)
	go func() { ended <- control(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			p.Error(fmt.Errorf("the controller: %w", err))
		}
	}()
	do()
}
