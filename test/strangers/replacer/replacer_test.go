package replacer

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nodesim/nodesim/test/strangers/place"
)

func TestInASimulatedCluster(t *testing.T) { place.Simulated(t, replace) }

// replace runs two managers, one of which leads, until half of the nodes are replaced. Then the leader ends without giving its
// Lease back; the other one leads when the Lease has expired, and replaces the rest.
func replace(p *place.Place) {
	p.Fill()
	old := p.NodeNames()
	p.KeepsTheBudget(func() {
		ctx, cancel := context.WithCancel(p.Context())
		defer cancel()
		ended := make(chan error, 1)
		var first string
		p.During(func(ctx context.Context) error { return manage(ctx, p) }, func() {
			first = p.UntilHeld("replacer", "")
			go func() { ended <- manage(ctx, p) }()
			untilLeft(p, old, len(old)/2)
		})
		if holder := p.UntilHeld("replacer", first); holder == first {
			p.Errorf("%s holds the Lease after its end", first)
		}
		untilLeft(p, old, 0)
		p.UntilReady("web", place.Replicas)
		cancel()
		p.Must(<-ended)
	})
	if now := p.NodeNames(); len(now) != len(old) {
		p.Errorf("%d nodes: %v, want %d", len(now), now, len(old))
	}
	p.UntilReady("agent", len(old))
}

// manage runs a manager with the reconciler until the context ends.
func manage(ctx context.Context, p *place.Place) error {
	unchecked := true
	o := ctrl.Options{
		LeaderElection: true, LeaderElectionID: "replacer", LeaderElectionNamespace: metav1.NamespaceSystem, Logger: place.Quiet(),
	}
	o.Metrics.BindAddress, o.Controller.SkipNameValidation = "0", &unchecked
	m, err := ctrl.NewManager(p.Config(), o)
	if err != nil {
		return err
	}
	r := &Replacer{Launch: func(name string) *corev1.Node { return place.Machine(name, "example:///"+name) }}
	if err := r.SetupWithManager(m); err != nil {
		return err
	}
	return m.Start(ctx)
}

// untilLeft waits until no more than so many of these nodes are left.
func untilLeft(p *place.Place, nodes map[string]bool, most int) {
	p.Helper()
	p.Eventually(time.Hour, fmt.Sprintf("%d nodes to be left", most), func() (bool, string) {
		left := 0
		for name := range p.NodeNames() {
			if _, is := nodes[name]; is {
				left++
			}
		}
		return left <= most, fmt.Sprint(left)
	})
}
