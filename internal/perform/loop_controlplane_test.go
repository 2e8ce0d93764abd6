//go:build controlplane

package perform_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/controlplane"
	"github.com/nodesim/nodesim/internal/likeness"
	"github.com/nodesim/nodesim/internal/likeness/held"
	"github.com/nodesim/nodesim/internal/perform"
	"github.com/nodesim/nodesim/internal/show"
	"github.com/nodesim/nodesim/internal/simulate"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/nodesim/nodesim/timeline"
)

// speed is that of scenarios and of the control plane's delays.
const speed = 30

// lines is a Sink that keeps the feed.
type lines struct{ text bytes.Buffer }

func (l *lines) Entries(entries []noderoll.Entry) error {
	for _, e := range entries {
		l.text.WriteString(e.String() + "\n")
	}
	return nil
}

func (l *lines) Moment(*show.View) error { return nil }

// What is performed live and recorded is like the simulation of the same scenario,
// and its feed, as it was shown live, is that of the tape's replay.
func TestPerformancesAreLikeSimulations(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   []string
		steps int // that are alike, at the least
	}{
		{"surge", []string{"nodes=3", "pods=6", "minAvailable=5"}, 1500},
		{"stuck-drain", []string{"evictionTimeout=5m"}, 400},
		{"spot-loss", []string{"nodes=3", "pods=6", "lost=1"}, 250},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
			defer cancel()
			file := scenario(t, c.name, c.set...)
			tape := filepath.Join(t.TempDir(), c.name+".yaml")
			shown := record(ctx, t, file, tape)
			simulated, err := file.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = simulated.Close() }() // it was only read
			like, err := likeness.Compare(slowed(t, tape), simulated, likeness.Options{NameA: c.name + ": live", NameB: "simulated"})
			if err != nil {
				t.Fatal(err)
			}
			if !like.Equal() || like.Alike < c.steps {
				t.Errorf("want %d steps alike and no difference: %s", c.steps, like)
			}
			t.Log(like.Summary())
			if err := held.Tell("live-"+c.name, like.Summary()); err != nil {
				t.Error(err)
			}
			if d := cmp.Diff(shown, feed(t, tape)); d != "" {
				t.Errorf("the feed as it was shown live, and that of the tape (-live +tape):\n%s", d)
			}
		})
	}
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
	return src.File
}

// record performs a scenario on a control plane of its own and records it, and
// returns the feed as it was shown meanwhile.
func record(ctx context.Context, t *testing.T, file *scenarios.File, tape string) string {
	t.Helper()
	plane, err := controlplane.Start(ctx, controlplane.Options{Speed: speed})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	}()
	var sink lines
	report, err := perform.Run(ctx, perform.Options{
		REST: plane.Config(), File: file, Tape: tape,
		Live: []live.Option{live.Speed(speed), live.RenewEvery(10 * time.Second / speed)},
		Driver: func(h *timeline.Header) (*show.Driver, error) {
			o, err := observe.OptionsFor(h, "", "", "")
			if err != nil {
				return nil, err
			}
			d := show.NewDriver(show.NewView(h, o), &sink)
			d.Verbose = true
			return d, nil
		},
		Linger: func(ctx context.Context) { collected(ctx, t, plane.Config()) },
		Say:    func(line string) { t.Log(line) }, Warn: func(line string) { t.Log(line) },
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
func collected(ctx context.Context, t *testing.T, config *rest.Config) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Error(err)
		return
	}
	err = wait.PollUntilContextTimeout(ctx, time.Second, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
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
		for _, p := range pods.Items {
			if !there[p.Spec.NodeName] {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Errorf("pods of nodes that are gone: %v", err)
	}
}

// slowed is a tape in the scenario's time.
func slowed(t *testing.T, tape string) *timeline.Reader {
	t.Helper()
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }() // it was only read
	h, events := timeline.Speed(1.0 / speed)(r.Header(), r.All())
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
