//go:build controlplane

package app

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// What a recorder may cost the cluster that it records, in percent of what kube-apiserver takes without it.
const (
	recordedNodes, recordedPods = 1000, 30_000

	mostMoreCPU, mostMoreMemory = 2.0, 5.0
	recordedPhase               = time.Minute
	replacedEvery               = 250 * time.Millisecond // a pod
	cordonedEvery               = 8                      // pods
)

// BenchmarkCostToTheServer compares kube-apiserver's CPU and memory with and without `nodesim record --daemon`, which is what stays in a
// cluster, beside a thousand nodes with thirty thousand pods: kubelets renew their leases and post their statuses, kube-controller-manager
// and kube-scheduler run, and a roll goes on: four pods a second are evicted and come again elsewhere, and every two
// seconds a node is cordoned or free again. A minute without the recorder, two with it, and one without, so that what
// grows with time counts for both. What the recorder's lists cost is apart from that: they are read once.
//
// Then the same with client-go's informers of what is recorded, in protobuf, in place of the recorder: what the least is that a client
// can cost which sees each change, on this machine.
//
// The benchmark fails where a figure of the recorder is above its limit by more than the informers' figure differs from 0. They add
// as little as a client can, measured in the same way, so what they seem to add, or to save, is how far figures scatter in this run.
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
	var without, with, informed, around costPhase
	without.add(roll.phase(ctx, b, server))
	before := server.spent(b)
	recording := startRecording(ctx, b, r)
	lists := server.spent(b) - before
	r.untilCollected(ctx, b)
	with.add(roll.phase(ctx, b, server))
	with.add(roll.phase(ctx, b, server))
	own := recording.spent(b)
	_, most, _ := recording.memory(b)
	recording.end(b)
	between := roll.phase(ctx, b, server)
	without.add(between)
	stop := startInformers(ctx, b, r)
	r.untilCollected(ctx, b)
	informed.add(roll.phase(ctx, b, server))
	informed.add(roll.phase(ctx, b, server))
	stop()
	around.add(between)
	around.add(roll.phase(ctx, b, server))

	scatterCPU := more(&informed, &around, costPhase.working)
	scatterMemory := 100 * (informed.memory()/around.memory() - 1)
	for _, figure := range []struct {
		name, unit string
		is, limit  float64
		scatter    float64 // where there is a limit
	}{
		{"kube-apiserver's CPU without the recorder", "without-cpu-s", without.cpu.Seconds(), 0, 0},
		{"kube-apiserver's CPU with it", "with-cpu-s", with.cpu.Seconds(), 0, 0},
		{"CPU that the recorder adds", "more-%cpu", more(&with, &without, costPhase.cores), 0, 0},
		{"… of that without garbage collection", "more-%cpu-without-gc", more(&with, &without, costPhase.working), mostMoreCPU, scatterCPU},
		{"memory allocated in a minute without the recorder", "without-allocated-MB", without.allocated / float64(without.phases), 0, 0},
		{"memory allocated in a minute with it", "with-allocated-MB", with.allocated / float64(with.phases), 0, 0},
		{"… with the informers", "informers-allocated-MB", informed.allocated / float64(informed.phases), 0, 0},
		{"CPU of the informers without garbage collection", "informers-more-%cpu-without-gc", scatterCPU, 0, 0},
		{"CPU that client-go's informers add", "informers-more-%cpu", more(&informed, &around, costPhase.cores), 0, 0},
		{"kube-apiserver's CPU for the lists, once", "lists-cpu-s", lists.Seconds(), 0, 0},
		{"kube-apiserver's memory without the recorder", "without-MB", without.memory(), 0, 0},
		{"kube-apiserver's memory with it", "with-MB", with.memory(), 0, 0},
		{"memory that the recorder adds", "more-%memory", 100 * (with.memory()/without.memory() - 1), mostMoreMemory, scatterMemory},
		{"memory that client-go's informers add", "informers-more-%memory", scatterMemory, 0, 0},
		{"the recorder's own CPU, lists and two minutes", "recorder-cpu-s", own.Seconds(), 0, 0},
		{"the recorder's resident memory at its most", "recorder-MB", most, 0, 0},
		{"pods that were replaced", "replaced-pods", float64(roll.replaced), 0, 0},
	} {
		b.ReportMetric(figure.is, figure.unit)
		line := fmt.Sprintf("%-46s %10.2f %s", figure.name, figure.is, figure.unit)
		if figure.limit > 0 {
			b.ReportMetric(figure.limit, "limit-"+figure.unit)
			line += fmt.Sprintf(" (limit %g)", figure.limit)
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", b.Name(), line) // b.Log keeps ten lines
		if exceeds(figure.is, figure.limit, figure.scatter) {
			b.Errorf("%s: found %.1f %%, want at most %g %%, or up to %.1f %% more, which is how far figures scatter", figure.name, figure.is, figure.limit, math.Abs(figure.scatter))
		}
	}
	kubelets.end(b)
	r.stop()
}

// exceeds reports whether a figure is above its limit, where it has one, by more than figures scatter to either side.
func exceeds(is, limit, scatter float64) bool { return limit > 0 && is > limit+math.Abs(scatter) }

// A costPhase is what the server took in some phases.
type costPhase struct {
	phases    int
	cpu       time.Duration
	gc        float64 // of it, in seconds, what Go's garbage collector took
	allocated float64 // MB
	sampled   float64 // MB, added up
	samples   int
}

func (p *costPhase) add(o costPhase) {
	p.phases += o.phases
	p.cpu += o.cpu
	p.gc += o.gc
	p.allocated += o.allocated
	p.sampled += o.sampled
	p.samples += o.samples
}

// memory is the mean of what the server had of its own, in megabytes.
func (p *costPhase) memory() float64 { return p.sampled / float64(p.samples) }

// working is the CPU in a second of the clock but for the garbage collector's: in a heap of one or two gigabytes that comes in pieces of seconds,
// of which a phase has one more or less.
func (p costPhase) working() float64 {
	return (p.cpu.Seconds() - p.gc) / (float64(p.phases) * recordedPhase.Seconds())
}

// cores is the CPU in a second of the clock.
func (p costPhase) cores() float64 {
	return p.cpu.Seconds() / (float64(p.phases) * recordedPhase.Seconds())
}

// more is by how many percent a figure is greater.
func more(with, without *costPhase, of func(costPhase) float64) float64 {
	return 100 * (of(*with)/of(*without) - 1)
}

// collector is what kube-apiserver's metrics say of its memory.
type collector struct{ cycles, cpu, allocated float64 }

func (r *liveRig) collector(ctx context.Context, tb testing.TB) (c collector) {
	tb.Helper()
	text, err := r.client.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, of := range []struct {
			name string
			into *float64
		}{
			{"go_gc_cycles_total_gc_cycles_total", &c.cycles}, {"go_cpu_classes_gc_total_cpu_seconds_total", &c.cpu}, {"go_gc_heap_allocs_bytes_total", &c.allocated},
		} {
			if name == of.name {
				if *of.into, err = strconv.ParseFloat(value, 64); err != nil {
					tb.Fatal(err)
				}
			}
		}
	}
	if c.cycles == 0 || c.cpu == 0 || c.allocated == 0 {
		tb.Fatalf("found %+v in kube-apiserver's metrics, want its garbage collector's", c)
	}
	return c
}

// untilCollected waits until kube-apiserver has collected what lists have left.
func (r *liveRig) untilCollected(ctx context.Context, tb testing.TB) {
	tb.Helper()
	before := r.collector(ctx, tb).cycles
	r.wait(ctx, tb, "a garbage collection", func() bool { return r.collector(ctx, tb).cycles >= before+2 })
}

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
	before, was := server.spent(tb), c.rig.collector(ctx, tb)
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
			is := c.rig.collector(ctx, tb)
			p.phases, p.cpu, p.gc, p.allocated = 1, server.spent(tb)-before, is.cpu-was.cpu, (is.allocated-was.allocated)/1e6
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

// startInformers has client-go see all that is recorded by default, until the function is called.
func startInformers(ctx context.Context, tb testing.TB, r *liveRig) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(ctx)
	all := informers.NewSharedInformerFactoryWithOptions(r.client, 0, informers.WithTransform(bare))
	for _, one := range []interface {
		Informer() cache.SharedIndexInformer
	}{
		all.Core().V1().Nodes(), all.Core().V1().Pods(), all.Core().V1().Events(), all.Policy().V1().PodDisruptionBudgets(),
	} {
		one.Informer()
	}
	all.Start(ctx.Done())
	all.WaitForCacheSync(ctx.Done())
	return func() {
		cancel()
		all.Shutdown()
	}
}

// startRecording begins a recording of the whole cluster by a daemon, and waits until its lists are read: its watches are open then.
func startRecording(ctx context.Context, tb testing.TB, r *liveRig) *rival {
	tb.Helper()
	said, say, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	c := contendTo(tb, say, build(tb), []string{
		"record", "--daemon", "--dir", filepath.Join(tb.TempDir(), "recorder"), "--listen", "127.0.0.1:0", "--kubeconfig", r.plane.KubeconfigPath(),
	})
	if err := say.Close(); err != nil {
		tb.Fatal(err)
	}
	addresses := make(chan string, 1)
	go func() {
		defer func() { _ = said.Close() }() // it was only read
		lines, once := bufio.NewScanner(said), false
		for lines.Scan() {
			if _, address, ok := strings.Cut(lines.Text(), "msg=listening address="); ok && !once {
				addresses <- address
				once = true
			}
		}
	}()
	var address string
	select {
	case address = <-addresses:
	case <-c.ended:
		tb.Fatalf("nodesim record has ended: %v", c.why)
	case <-ctx.Done():
		tb.Fatal(context.Cause(ctx))
	}
	r.wait(ctx, tb, "the recorder's watches", func() bool {
		select {
		case <-c.ended:
			tb.Fatalf("nodesim record has ended: %v", c.why)
		default:
		}
		return watchesOpen(ctx, tb, address)
	})
	return c
}

// watchesOpen reports whether each watch of a recorder is open, as the metrics at its address say.
func watchesOpen(ctx context.Context, tb testing.TB, address string) bool {
	tb.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		tb.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	open, lines := 0, bufio.NewScanner(answer.Body)
	for lines.Scan() {
		sample, ok := strings.CutPrefix(lines.Text(), "nodesim_recorder_watch_open{")
		switch {
		case !ok:
		case !strings.HasSuffix(sample, " 1"):
			return false
		default:
			open++
		}
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return open > 0
}
