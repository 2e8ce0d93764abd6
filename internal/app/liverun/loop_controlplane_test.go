//go:build controlplane

package liverun_test

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/internal/app/liverun"
	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/localcluster"
	"github.com/nodesim/nodesim/internal/testing/simcheck"
	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/nodesim/nodesim/timeline"
)

// speeds are those of scenarios and of their control planes' delays. Where a
// machine is too slow for the first, so that states merge which follow each other
// within milliseconds, a slower one has to do.
var speeds = []float64{20, 8, 3}

// exclusions hold what a speed doesn't divide.
var exclusions = []tapediff.Exclusion{
	{Kind: "Node", Reason: "node.kubernetes.io/unreachable:NoExecute", Component: tapediff.Taints, Source: passSource},
	{Kind: "Node", Reason: "node.kubernetes.io/not-ready:NoExecute", Component: tapediff.Taints, Source: passSource},
	{Kind: "DaemonSet", Reason: "SuccessfulCreate", Component: "daemonset-controller", Source: spamSource},
	{Kind: "DaemonSet", Reason: "SuccessfulDelete", Component: "daemonset-controller", Source: spamSource},
	{Kind: "DaemonSet", Reason: "FailedDaemonPod", Component: "daemonset-controller", Source: spamSource},
	{Kind: "Pod", Reason: tapediff.Unbound, Component: tapediff.Ends, Source: unboundSource},
}

// lucky holds what the scheduler's choice among equal nodes decides.
var lucky = []tapediff.Exclusion{{
	Kind: "Node", Reason: "blocked", Component: tapediff.Feed,
	Source: "a drain is refused for ten seconds or not, as the pods of the drain before it were placed (pkg/scheduler/schedule_one.go, selectHost)",
}, {
	Kind: "Node", Reason: "unblocked", Component: tapediff.Feed,
	Source: "the end of such a refusal: as blocked",
}}

const (
	passSource = "the node lifecycle controller's pass of its own, every 100 ms (pkg/controller/nodelifecycle/scheduler/rate_limited_queue.go, " +
		"NodeEvictionPeriod): by then a joining node may be Ready, and one that is gone deleted"
	unboundSource = "a DaemonSet's pod that is made while its Node goes may be bound before the Node is gone, or be deleted without " +
		"(pkg/controller/daemon/daemon_controller.go, getUnscheduledPodsWithoutNode)"
	spamSource = "25 Events about an object, and then one in five minutes of the wall (client-go, tools/record/events_cache.go, EventSourceObjectSpamFilter)"
)

// As the program does.
func init() { ctrllog.SetLogger(logr.Discard()) }

// lines is a Sink that keeps the feed.
type lines struct{ text bytes.Buffer }

func (l *lines) Entries(entries []noderoll.Entry) error {
	for _, e := range entries {
		l.text.WriteString(e.String() + "\n")
	}
	return nil
}

func (l *lines) Moment(*ui.View) error { return nil }

// What a live run does and a recorder records is like the simulation of the same scenario,
// and its feed, as it was shown live, is that of the tape's replay.
func TestLiveRunsAreLikeSimulations(t *testing.T) {
	for _, c := range []struct {
		name    string
		set     []string
		steps   int // that are alike, at the least
		exclude []tapediff.Exclusion
	}{
		{"surge", []string{"nodes=3", "pods=6", "minAvailable=5"}, 1500, lucky},
		{"stuck-drain", []string{"evictionTimeout=5m"}, 400, nil},
		{"spot-loss", []string{"nodes=3", "pods=6", "lost=1"}, 250, nil},
		{"inplace-image", []string{"pods=3"}, 90, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
			defer cancel()
			file := scenario(t, c.name, c.set...)
			var like tapediff.Report
			for _, speed := range speeds {
				tape := filepath.Join(t.TempDir(), c.name+".yaml")
				shown := record(ctx, t, file, tape, speed)
				if d := cmp.Diff(shown, feed(t, tape)); d != "" {
					t.Errorf("the feed as it was shown live, and that of the tape (-live +tape):\n%s", d)
				}
				check(t, tape)
				if like = compare(t, file, tape, speed, slices.Concat(exclusions, c.exclude)); like.Equal() {
					break
				}
				t.Logf("at a speed of %v: %s", speed, like)
			}
			if !like.Equal() || like.Alike < c.steps {
				t.Errorf("want %d steps alike and no difference: %s", c.steps, like)
			}
			t.Log(like.Summary())
			if err := simcheck.Tell("live-"+c.name, like.Summary()); err != nil {
				t.Error(err)
			}
		})
	}
}

// check checks the tape of a live run against all that every tape obeys.
func check(t *testing.T, tape string) {
	t.Helper()
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }() // it was only read
	report, err := inspect.Check(r, inspect.CheckOptions(r.Header()))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Errorf("inspect --check: %s", v)
	}
}

// compare checks the tape of a live run against the scenario's simulation.
func compare(t *testing.T, file *scenarios.File, tape string, speed float64, exclude []tapediff.Exclusion) tapediff.Report {
	t.Helper()
	simulated, err := file.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = simulated.Close() }() // it was only read
	like, err := tapediff.Compare(slowed(t, tape, speed), simulated, tapediff.Options{
		NameA: file.Metadata.Name + ": live", NameB: "simulated", Exclude: exclude,
		Skew: time.Duration(speed * float64(time.Second) / 2), // half a second of the wall
	})
	if err != nil {
		t.Fatal(err)
	}
	return like
}

// scenario is a shipped scenario with values.
func scenario(t *testing.T, name string, set ...string) *scenarios.File {
	t.Helper()
	s, err := simulate.Find(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := simulate.Resolve(s, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	src.File.Cluster.Jitter = 0 // so that no pod is ready sooner than the others
	return src.File
}

// record runs a scenario live on a control plane of its own and records it, and
// returns the feed as it was shown meanwhile.
func record(ctx context.Context, t *testing.T, file *scenarios.File, tape string, speed float64) string {
	t.Helper()
	plane, err := localcluster.Start(ctx, localcluster.Options{Speed: speed})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	}()
	var sink lines
	report, err := liverun.Run(ctx, liverun.Options{
		REST: plane.Config(), File: file, Tape: tape,
		Live: []live.Option{live.Speed(speed), live.RenewEvery(time.Duration(float64(10*time.Second) / speed)), live.AtEnd(func(ctx context.Context) error {
			return collected(ctx, plane.Config())
		})},
		Driver: func(h *timeline.Header) (*ui.Driver, error) {
			o, err := observe.OptionsFor(h, "", "", "")
			if err != nil {
				return nil, err
			}
			d := ui.NewDriver(ui.NewView(h, o), &sink)
			d.View.Verbose = true
			return d, nil
		},
		Say: func(line string) { t.Log(line) }, Warn: func(line string) { t.Log(line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
	return sink.text.String()
}

// collected waits until the pods of nodes that are gone are gone, too: the pod
// garbage collector looks every 20 s and waits for 40 s more, whatever the speed
// (pkg/controller/podgc/gc_controller.go: gcCheckPeriod, quarantineTime).
func collected(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, time.Second, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		there := map[string]bool{"": true}
		for _, n := range nodes.Items {
			there[n.Name] = true
		}
		return !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return !there[p.Spec.NodeName] }), nil
	})
}

// slowed is a tape in the scenario's time.
func slowed(t *testing.T, tape string, speed float64) *timeline.Reader {
	t.Helper()
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }() // it was only read
	h, events := timeline.Speed(1.0/speed)(r.Header(), r.All())
	var text bytes.Buffer
	w, err := timeline.NewWriter(&text, *h)
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range events {
		if err == nil {
			err = w.Write(ev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := timeline.NewReader(&text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// feed is the verbose feed of a tape.
func feed(t *testing.T, tape string) string {
	t.Helper()
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }() // it was only read
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	o.FeedOptions.Verbose = true
	var text bytes.Buffer
	if err := observe.Feed(r, o, func(e noderoll.Entry) error {
		text.WriteString(e.String() + "\n")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
