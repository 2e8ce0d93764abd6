package drain_test

import (
	"testing"
	"time"

	"k8s.io/kubectl/pkg/drain"

	"github.com/nodesim/nodesim/test/strangers/place"
)

func TestInASimulatedCluster(t *testing.T) { place.Simulated(t, kubectlDrain) }

// kubectlDrain drains a node with the code of kubectl drain. All pods but those of the DaemonSet run elsewhere then.
func kubectlDrain(p *place.Place) {
	p.Fill()
	node := p.Busiest()
	p.KeepsTheBudget(func() {
		h := &drain.Helper{
			Ctx: p.Context(), Client: p.Kube, GracePeriodSeconds: -1, IgnoreAllDaemonSets: true, DeleteEmptyDirData: true,
			Timeout: 10 * time.Minute, EvictErrorRetryDelay: 5 * time.Second, Out: p.Output(), ErrOut: p.Output(),
		}
		p.Must(drain.RunCordonOrUncordon(h, node, true))
		p.Must(drain.RunNodeDrain(h, node.Name))
		if left := p.Pods("web", node.Name); len(left) > 0 {
			p.Errorf("%d pods of web are left on %s", len(left), node.Name)
		}
		if n := len(p.Pods("agent", node.Name)); n != 1 {
			p.Errorf("%d pods of the DaemonSet are on %s, want 1", n, node.Name)
		}
		p.UntilReady("web", place.Replicas)
	})
}
