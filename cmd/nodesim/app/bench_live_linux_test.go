//go:build controlplane

package app

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

// A thousand nodes with ten thousand pods beside their control plane, on two cores: at least so many nodes Ready and
// pods Running a second, at most so much memory, at most so much CPU once all is quiet, and every lease renewed in its
// time.
const (
	liveNodes, livePods = 1000, 10_000

	leastNodes, leastPods         = 50, 100
	mostCores, mostMegabytes      = 0.5, 300
	oldestLease                   = 40 * time.Second // their duration, as a kubelet has it
	quietDefault, kwokQuietFactor = 10 * time.Minute, 5
)

// BenchmarkLive has `nodesim simulate --live` keep a cluster alive, and kwok do the same work in the same run, each on a
// control plane of its own, one after the other. NODESIM_BENCH_STEADY sets how long nodesim is watched once all pods
// run (10m); kwok is for a fifth of it.
//
//	real    the kubelets of an EKS cluster: two DaemonSets bring 2,000 pods more; a pod's start is three statuses,
//	        a pull, and the Events of it
//	plain   kubelet: kwok in the scenario: no DaemonSets, and of a pod one status, as with kwok
//	kwok    kwok itself, with stages after its own fast ones, which wait for nothing
//
// The nodes are nodesim's own in its runs, and are counted from the first creation to the last Ready; for kwok they are
// created by the benchmark, as fast as the server takes them. The pods are bound when they are created, in turns over
// the nodes, so that kube-scheduler isn't measured. cpu-s is what the program itself took, for all nodes or all
// pods: a busy machine changes it less than the clock's figures.
func BenchmarkLive(b *testing.B) {
	quiet := steady(b, quietDefault)
	for _, c := range []struct {
		name  string
		quiet time.Duration
		start func(context.Context, testing.TB, *liveRig, int) *rival
	}{
		{"real", quiet, nodesimOf("real")},
		{"plain", quiet / kwokQuietFactor, nodesimOf("kwok")},
		{"kwok", quiet / kwokQuietFactor, startKwok},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				ctx, cancel := context.WithTimeout(b.Context(), 15*time.Minute+c.quiet)
				compete(ctx, b, size{liveNodes, livePods, leastNodes, leastPods, mostCores}, c.start, c.quiet)
				cancel()
			}
		})
	}
}

// steady is how long a steady state is watched.
func steady(b *testing.B, usual time.Duration) time.Duration {
	b.Helper()
	text := os.Getenv("NODESIM_BENCH_STEADY")
	if text == "" {
		return usual
	}
	quiet, err := time.ParseDuration(text)
	if err != nil || quiet <= 0 {
		b.Fatalf("NODESIM_BENCH_STEADY is %q (%v): want a duration such as 2m", text, err)
	}
	return quiet
}

// size is how many nodes and pods there are, with the least of each that become Ready and Running in a second, and the most cores.
type size struct {
	nodes, pods           int
	leastNodes, leastPods float64
	mostCores             float64
}

// compete measures one of them.
func compete(ctx context.Context, b *testing.B, of size, start func(context.Context, testing.TB, *liveRig, int) *rival, quiet time.Duration) {
	b.Helper()
	r := newLiveRig(ctx, b)
	c := start(ctx, b, r, of.nodes)
	r.ended = c.over()

	r.wait(ctx, b, "all nodes to be Ready", func() bool { return r.nodes.count() >= of.nodes })
	joined := c.spent(b)
	r.wait(ctx, b, "the scenario to begin", func() bool { return c.begun(ctx) })

	before := c.spent(b)
	created := r.createPods(ctx, b, of.pods)
	r.wait(ctx, b, "all pods to run", func() bool { return r.pods.count() >= of.pods })
	ran := c.spent(b) - before

	server := process{r.plane.PIDs()["kube-apiserver"]}
	r.leases.forget()
	own, its, from := c.spent(b), server.spent(b), time.Now()
	r.watchLeases(ctx, b, quiet)
	took := time.Since(from).Seconds()
	own, its = c.spent(b)-own, server.spent(b)-its
	resident, most, anon := c.memory(b)
	oldest, late, renewals := r.leases.report()

	for _, figure := range []struct {
		name, unit string
		is, limit  float64
	}{
		{"nodes created and Ready in a second", "nodes/s", float64(of.nodes) / r.nodes.took().Seconds(), of.leastNodes},
		{"its CPU for all nodes to join", "nodes-cpu-s", joined.Seconds(), 0},
		{"pods created in a second", "created-pods/s", float64(of.pods) / created.Seconds(), 0},
		{"pods Running in a second", "pods/s", float64(of.pods) / r.pods.took().Seconds(), of.leastPods},
		{"its CPU for all pods to run", "pods-cpu-s", ran.Seconds(), 0},
		{"steady state", "steady-s", took, 0},
		{"its CPU in the steady state", "steady-cores", own.Seconds() / took, of.mostCores},
		{"kube-apiserver's CPU in the steady state", "apiserver-cores", its.Seconds() / took, 0},
		{"resident memory in the end, of one process", "RSS-MB", resident, mostMegabytes},
		{"of it, what isn't of the program's file", "anon-MB", anon, 0},
		{"resident memory at its most, of one process", "most-RSS-MB", most, mostMegabytes},
		{"renewals of leases", "renewals", float64(renewals), 0},
		{"greatest age of a lease", "oldest-lease-s", oldest.Seconds(), oldestLease.Seconds()},
		{"leases older than their duration", "late-leases", float64(late), 0},
		{"nodes that weren't Ready again", "lost-nodes", float64(r.nodes.lost()), 0},
	} {
		b.ReportMetric(figure.is, figure.unit)
		line := fmt.Sprintf("%-43s %10.2f %s", figure.name, figure.is, figure.unit)
		if figure.limit > 0 {
			b.ReportMetric(figure.limit, "limit-"+figure.unit)
			line += fmt.Sprintf(" (limit %g)", figure.limit)
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", b.Name(), line) // b.Log keeps ten lines
	}
	if lost := r.nodes.lost(); lost > 0 && !c.peer {
		b.Errorf("nodes weren't Ready any more %d times: want them to stay Ready", lost)
	}
	if late > 0 && !c.peer {
		b.Errorf("%d leases were older than their %s: want each renewed in time", late, oldestLease)
	}
	c.end(b)
	r.stop()
}
