//go:build controlplane

package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/live"
)

// What kwok's own CI wants of kwok: 5,000 nodes Ready and 10,000 pods Running within a minute each (kubernetes-sigs/kwok,
// test/e2e/benchmark.go).
var fleetSize = size{nodes: 5 * liveNodes, pods: 5 * livePods, leastNodes: 83, leastPods: 167, mostCores: 5 * mostCores}

const fleetShards = 5

// BenchmarkShards has five processes of `nodesim simulate --live --shards 5` keep 5,000 nodes and 50,000 pods alive, and one of kwok the same,
// each on a control plane of its own, one after the other. One of nodesim's shows the feed. NODESIM_BENCH_STEADY sets how long nodesim's are
// watched once all pods run (1h); kwok is for a fifth of it. Give it a machine of its own: five thousand kubelets renew 500 leases a second.
func BenchmarkShards(b *testing.B) {
	quiet := steady(b, time.Hour)
	for _, c := range []struct {
		name  string
		quiet time.Duration
		start func(context.Context, testing.TB, *liveRig, int) *rival
	}{
		{"shards", quiet, startShards},
		{"kwok", quiet / kwokQuietFactor, startKwok},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				ctx, cancel := context.WithTimeout(b.Context(), 40*time.Minute+c.quiet)
				compete(ctx, b, fleetSize, c.start, c.quiet)
				cancel()
			}
		})
	}
}

// startShards runs the scenario of so many nodes live, by five processes.
func startShards(ctx context.Context, tb testing.TB, r *liveRig, nodes int) *rival {
	tb.Helper()
	bin := build(tb)
	var first *rival
	output := "feed"
	for range fleetShards {
		c := contend(tb, bin, []string{
			"simulate", filepath.Join("testdata", "live", "fleet.yaml"), "--set", fmt.Sprint("nodes=", nodes/fleetShards),
			"--live", "--shards", strconv.Itoa(fleetShards), "--keep", "--kubeconfig", r.plane.KubeconfigPath(), "-o", output,
		})
		output = "none" // kwok shows nothing either; one of the processes does
		if first == nil {
			first = c
		} else {
			first.beside = append(first.beside, c)
		}
	}
	first.begun = func(ctx context.Context) bool {
		for i := range fleetShards {
			record, err := r.client.CoordinationV1().Leases(live.RecordNamespace).Get(ctx, fmt.Sprintf("%s-%d", live.RecordName, i), metav1.GetOptions{})
			if err != nil || record.Annotations["nodesim.dev/begun"] != "true" {
				return false
			}
		}
		return true
	}
	return first
}

// A fleet of 50 nodes comes up with 250 pods by five processes, and for twenty seconds after that no lease becomes older than it may: what
// BenchmarkShards measures, small enough for every day.
func TestShardsLive(t *testing.T) {
	t.Parallel()
	const nodes, pods = 50, 250
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	r := newLiveRig(ctx, t)
	c := startShards(ctx, t, r, nodes)
	keptAlive(ctx, t, r, c, nodes, pods)
}
