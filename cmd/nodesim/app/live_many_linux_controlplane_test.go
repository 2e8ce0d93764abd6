//go:build controlplane

package app

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/timeline"
)

// Two hundred nodes come up with a thousand pods, and for twenty seconds after that no lease becomes older than it
// may: what BenchmarkLive measures, small enough for every day. The machine may be as slow as it likes.
func TestManyNodesLive(t *testing.T) {
	t.Parallel()
	const nodes, pods = 200, 1000
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	r := newLiveRig(ctx, t)
	tape := filepath.Join(t.TempDir(), "many.yaml")
	c := startNodesim(ctx, t, r, "kwok", nodes, "--out", tape)
	keptAlive(ctx, t, r, c, nodes, pods)
	checked(t, tape, nodes+pods)
}

// keptAlive waits until the nodes are Ready and the pods run, and watches the leases for twenty seconds after that.
func keptAlive(ctx context.Context, t *testing.T, r *liveRig, c *rival, nodes, pods int) {
	t.Helper()
	r.ended = c.over()
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

// checked checks the tape of a live run, which has at least so many objects, against all that every tape obeys.
func checked(t *testing.T, tape string, objects int) {
	t.Helper()
	opened, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }() // it was only read
	report, err := inspect.Check(opened, inspect.CheckOptions(opened.Header()))
	if err != nil {
		t.Fatal(err)
	}
	if added := report.Resources["nodes"][timeline.Added] + report.Resources["pods"][timeline.Added]; added < objects || !report.Complete {
		t.Errorf("the tape has %d nodes and pods, complete: %t; want %d, and an END", added, report.Complete, objects)
	}
	for _, v := range report.Violations {
		t.Errorf("inspect --check: %s", v)
	}
}
