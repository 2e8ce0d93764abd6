//go:build controlplane

package app

import (
	"context"
	"testing"
	"time"
)

// Two hundred nodes come up with a thousand pods, and for twenty seconds after that no lease becomes older than it
// may: what BenchmarkLive measures, small enough for every day. The machine may be as slow as it likes.
func TestManyNodesLive(t *testing.T) {
	t.Parallel()
	const nodes, pods = 200, 1000
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	r := newLiveRig(ctx, t)
	c := startNodesim(ctx, t, r, "kwok", nodes)
	r.ended = c.ended
	r.wait(ctx, t, "all nodes to be Ready", func() bool { return r.nodes.count() >= nodes })
	r.wait(ctx, t, "the scenario to begin", func() bool { return c.begun(ctx) })
	r.createPods(ctx, t, pods)
	r.wait(ctx, t, "all pods to run", func() bool { return r.pods.count() >= pods })
	r.watchLeases(ctx, t, 20*time.Second)
	if oldest, late, renewals := r.leases.report(); late > 0 || renewals < nodes {
		t.Errorf("%d of %d leases were older than their %s, the oldest %s, after %d renewals: want each renewed in time", late, nodes, oldestLease, oldest, renewals)
	}
	if lost := r.nodes.lost(); lost > 0 {
		t.Errorf("nodes weren't Ready any more %d times: want them to stay Ready", lost)
	}
	c.end(t)
}
