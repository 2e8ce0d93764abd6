//go:build controlplane

package apply_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apply"
)

// TestAmongControllers writes a tape into a cluster whose controller manager and
// scheduler are at work, and which gives up a node that is silent for four
// seconds. The feed is the tape's all the same: leases are renewed, no one binds
// what the tape binds, no owner is missed. What differs is what controllers
// write over: a budget's status, which is computed from the pods (and its
// conditions), and for a moment the taints of a node.
func TestAmongControllers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.New(t, testcluster.Options{NodeGrace: 4 * time.Second})
	if err := cluster.StartControllers(); err != nil {
		t.Fatal(err)
	}
	config := cluster.Config()
	// The cluster's stand-in for kubelets must leave the nodes alone.
	b, err := os.ReadFile(example("surge"))
	if err != nil {
		t.Fatal(err)
	}
	tape := filepath.Join(t.TempDir(), "surge.yaml")
	if err := os.WriteFile(tape, bytes.ReplaceAll(b, []byte(testcluster.KubeletLabel), []byte("example.com/kubelet")), 0o644); err != nil {
		t.Fatal(err)
	}
	a := play(t, config, replay.File(tape), 3, apply.Heartbeat(time.Second))
	if err := a.Open(ctx); err != nil {
		t.Fatal(err)
	}
	rec := record(ctx, t, config)
	report, err := a.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
	rec.end(ctx, t)
	if d := cmp.Diff(feed(t, tape, tape), feed(t, rec.file, tape)); d != "" {
		t.Errorf("the recording tells another story (-tape +recording):\n%s", d)
	}
	if len(report.Skipped) > 0 {
		t.Errorf("left out: %v", report.Skipped)
	}
	if _, err := a.Cleanup(ctx); err != nil {
		t.Fatal(err)
	}
	if left := contents(ctx, t, config, apply.Label, func(map[string]any) string { return "" }); len(left) > 0 {
		t.Errorf("Cleanup has left %v", left)
	}
	if err := cluster.ControllersAlive(); err != nil {
		t.Error(err)
	}
}
