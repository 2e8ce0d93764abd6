//go:build controlplane

package live_test

import (
	"context"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/live"
)

// kube-apiserver itself is restarted in the middle of a roll, and killed another
// time: the roll continues with the nodes and pods that there were.
func TestAPIServerRestarted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.New(t, testcluster.Options{NodeGrace: 40 * time.Second})
	if err := cluster.StartControllers(); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		name string
		do   func(context.Context) error
	}{{"stopped", cluster.RestartAPIServer}, {"killed", cluster.CrashAPIServer}} {
		t.Run(one.name, func(t *testing.T) {
			s := raise(ctx, t, cluster.Config(), scenario(t, "surge", append(small, "strategy=plain")...), live.RenewEvery(time.Second))
			until(ctx, t, "a node is drained", func() (bool, error) {
				name, err := drainedNode(ctx, cluster.Client())
				return name != "", err
			})
			before := standing(ctx, t, cluster.Client())
			if err := one.do(ctx); err != nil {
				t.Fatal(err)
			}
			before.survive(ctx, t, cluster.Client())
			s.complete()
			if err := cluster.ControllersAlive(); err != nil {
				t.Error(err)
			}
		})
	}
}
