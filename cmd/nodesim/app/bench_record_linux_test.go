//go:build controlplane

package app

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What a recorder may cost the cluster that it records, in percent of what kube-apiserver takes without it.
const (
	recordedNodes, recordedPods = 1000, 30_000

	mostMoreCPU, mostMoreMemory = 2.0, 5.0
	recordedPhase               = time.Minute
	replacedEvery               = 250 * time.Millisecond // a pod
	cordonedEvery               = 8                      // pods
)

// BenchmarkCostToTheServer compares kube-apiserver's CPU and memory with and without `nodesim record`, in a cluster of a
// thousand nodes with thirty thousand pods: kubelets renew their leases and post their statuses, kube-controller-manager
// and kube-scheduler run, and a roll goes on: four pods a second are evicted and come again elsewhere, and every two
// seconds a node is cordoned or free again. A minute without the recorder, two with it, and one without, so that what
// grows with time counts for both. What the recorder's lists cost is apart from that: they are read once.
func BenchmarkCostToTheServer(b *testing.B) {
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), 40*time.Minute)
		compareServers(ctx, b)
		cancel()
	}
}

func compareServers(ctx context.Context, b *testing.B) {
	b.Helper()
	r := newLiveRig(ctx, b)
	kubelets := startNodesim(ctx, b, r, "real", recordedNodes)
	r.ended = kubelets.ended
	r.wait(ctx, b, "all nodes to be Ready", func() bool { return r.nodes.count() >= recordedNodes })
	r.wait(ctx, b, "the scenario to begin", func() bool { return kubelets.begun(ctx) })
	r.createPods(ctx, b, recordedPods)
	r.wait(ctx, b, "all pods to run", func() bool { return r.pods.count() >= recordedPods })

	server := process{r.plane.PIDs()["kube-apiserver"]}
	roll := &costRoll{rig: r, names: r.nodes.names()}
	var without, with costPhase
	without.add(roll.phase(ctx, b, server))
	before := server.spent(b)
	recording := startRecording(ctx, b, r)
	lists := server.spent(b) - before
	with.add(roll.phase(ctx, b, server))
	with.add(roll.phase(ctx, b, server))
	own := recording.spent(b)
	_, most, _ := recording.memory(b)
	recording.end(b)
	without.add(roll.phase(ctx, b, server))

	for _, figure := range []struct {
		name, unit string
		is, limit  float64
	}{
		{"kube-apiserver's CPU without the recorder", "without-cpu-s", without.cpu.Seconds(), 0},
		{"kube-apiserver's CPU with it", "with-cpu-s", with.cpu.Seconds(), 0},
		{"CPU that the recorder adds", "more-%cpu", 100 * (with.cpu.Seconds()/without.cpu.Seconds() - 1), mostMoreCPU},
		{"kube-apiserver's CPU for the lists, once", "lists-cpu-s", lists.Seconds(), 0},
		{"kube-apiserver's memory without the recorder", "without-MB", without.memory(), 0},
		{"kube-apiserver's memory with it", "with-MB", with.memory(), 0},
		{"memory that the recorder adds", "more-%memory", 100 * (with.memory()/without.memory() - 1), mostMoreMemory},
		{"the recorder's own CPU, lists and two minutes", "recorder-cpu-s", own.Seconds(), 0},
		{"the recorder's resident memory at its most", "recorder-MB", most, 0},
		{"pods that were replaced", "replaced-pods", float64(roll.replaced), 0},
	} {
		b.ReportMetric(figure.is, figure.unit)
		line := fmt.Sprintf("%-46s %10.2f %s", figure.name, figure.is, figure.unit)
		if figure.limit > 0 {
			b.ReportMetric(figure.limit, "limit-"+figure.unit)
			line += fmt.Sprintf(" (limit %g)", figure.limit)
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", b.Name(), line) // b.Log keeps ten lines
	}
	kubelets.end(b)
	r.stop()
}

// A costPhase is what the server took in some phases.
type costPhase struct {
	cpu     time.Duration
	sampled float64 // MB, added up
	samples int
}

func (p *costPhase) add(o costPhase) {
	p.cpu += o.cpu
	p.sampled += o.sampled
	p.samples += o.samples
}

// memory is the mean of what the server had of its own, in megabytes.
func (p *costPhase) memory() float64 { return p.sampled / float64(p.samples) }

// A costRoll replaces pods, one after the other.
type costRoll struct {
	rig      *liveRig
	names    []string // of the nodes
	replaced int
}

// phase continues the roll for a while and measures the server.
func (c *costRoll) phase(ctx context.Context, tb testing.TB, server process) (p costPhase) {
	tb.Helper()
	due, look := time.NewTicker(replacedEvery), time.NewTicker(time.Second)
	defer due.Stop()
	defer look.Stop()
	end := time.NewTimer(recordedPhase)
	defer end.Stop()
	before := server.spent(tb)
	for {
		select {
		case <-due.C:
			c.replace(ctx, tb)
		case <-look.C:
			_, _, own := server.memory(tb)
			p.sampled += own
			p.samples++
		case <-c.rig.ended:
			tb.Fatal("the program that keeps the nodes has ended")
		case <-ctx.Done():
			tb.Fatal(context.Cause(ctx))
		case <-end.C:
			p.cpu = server.spent(tb) - before
			return p
		}
	}
}

// replace evicts the next pod, and has one like it elsewhere.
func (c *costRoll) replace(ctx context.Context, tb testing.TB) {
	tb.Helper()
	i, pods := c.replaced, c.rig.client.CoreV1().Pods(benchNamespace)
	c.replaced++
	if err := pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: benchPod(i, "").Name}}); err != nil {
		tb.Fatal(err)
	}
	if _, err := pods.Create(ctx, benchPod(recordedPods+i, c.names[i%len(c.names)]), metav1.CreateOptions{}); err != nil {
		tb.Fatal(err)
	}
	if i%cordonedEvery == 0 {
		turn := i / cordonedEvery
		patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, turn%2 == 0)
		if _, err := c.rig.client.CoreV1().Nodes().Patch(ctx, c.names[turn/2], types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
			tb.Fatal(err)
		}
	}
}

// startRecording begins a recording of the whole cluster, and waits until its lists are on the tape.
func startRecording(ctx context.Context, tb testing.TB, r *liveRig) *rival {
	tb.Helper()
	said, say, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	c := contendTo(tb, say, build(tb), []string{"record", "--kubeconfig", r.plane.KubeconfigPath(), "--out", filepath.Join(tb.TempDir(), "roll.yaml")})
	if err := say.Close(); err != nil {
		tb.Fatal(err)
	}
	listed := make(chan struct{})
	go func() {
		defer func() { _ = said.Close() }() // it was only read
		lines, once := bufio.NewScanner(said), false
		for lines.Scan() {
			if !once && strings.HasPrefix(lines.Text(), "recording ") {
				close(listed)
				once = true
			}
		}
	}()
	select {
	case <-listed:
	case <-c.ended:
		tb.Fatalf("nodesim record has ended: %v", c.why)
	case <-ctx.Done():
		tb.Fatal(context.Cause(ctx))
	}
	return c
}
