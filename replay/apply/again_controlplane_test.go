//go:build controlplane

package apply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apply"
)

// essence returns what an end state is compared by: everything but what the server
// alone says, and times.
func essence(o map[string]any) string {
	meta := o["metadata"].(map[string]any)
	for _, name := range []string{
		"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "ownerReferences", "deletionTimestamp",
	} {
		delete(meta, name)
	}
	about, _ := o["involvedObject"].(map[string]any)
	delete(about, "uid")
	var timeless func(v any) any
	timeless = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name, m := range v {
				if s, ok := m.(string); ok {
					if _, err := time.Parse(time.RFC3339, s); err == nil {
						v[name] = "T"
						continue
					}
				}
				v[name] = timeless(m)
			}
		case []any:
			for i := range v {
				v[i] = timeless(v[i])
			}
		}
		return v
	}
	b, err := json.Marshal(timeless(o))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func cleaned(ctx context.Context, t *testing.T, a *apply.Applier) {
	t.Helper()
	if _, err := a.Cleanup(ctx); err != nil {
		t.Fatal(err)
	}
	left := contents(ctx, t, testcluster.Shared(t).Config(), apply.Label, func(map[string]any) string { return "" })
	if len(left) > 0 {
		t.Fatalf("Cleanup has left %v", left)
	}
}

// endState returns what a whole run leaves, of what carries the label.
func endState(ctx context.Context, t *testing.T, story string) []string {
	t.Helper()
	config := testcluster.Shared(t).Config()
	a := play(t, config, replay.File(example(story)), replay.Max)
	if _, err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
	end := lasting(contents(ctx, t, config, apply.Label, essence))
	cleaned(ctx, t, a)
	return end
}

// A run that is interrupted after any number of writes, and then another one,
// leave what one run leaves.
func TestInterruptedAndBegunAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	config := testcluster.Shared(t).Config()
	want := endState(ctx, t, "surge")
	for _, writes := range []int{1, 17, 60, 110, 200, 280} {
		broken, interrupt := context.WithCancel(ctx)
		n := 0
		first := play(t, config, replay.File(example("surge")), replay.Max, apply.OnStep(func(apply.Step) {
			if n++; n == writes {
				interrupt()
			}
		}))
		if _, err := first.Run(broken); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted after %d writes: found error %v", writes, err)
		}
		interrupt()
		second := first // continues where its Player is
		if writes%2 == 0 {
			second = play(t, config, replay.File(example("surge")), replay.Max)
		}
		report, err := second.Run(ctx)
		if err != nil {
			t.Fatalf("after %d writes: %v", writes, err)
		}
		if len(report.Skipped) > 0 {
			t.Errorf("after %d writes: left out %v", writes, report.Skipped)
		}
		if d := cmp.Diff(want, lasting(contents(ctx, t, config, apply.Label, essence))); d != "" {
			t.Errorf("after %d writes the end is another (-one run +two):\n%s", writes, d)
		}
		cleaned(ctx, t, second)
	}
}

// The real program is killed wherever it is, and begun again.
func TestKilledAndBegunAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	config := testcluster.Shared(t).Config()
	want := endState(ctx, t, "surge")
	dir := t.TempDir()
	nodesim, kubeconfig := filepath.Join(dir, "nodesim"), filepath.Join(dir, "kubeconfig")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", nodesim, "../../cmd/nodesim").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := testcluster.WriteKubeconfig(kubeconfig, config); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) *exec.Cmd {
		return exec.CommandContext(ctx, nodesim, append([]string{"replay", example("surge"), "--to-cluster", "--kubeconfig", kubeconfig}, args...)...)
	}
	client := testcluster.Shared(t).Client()
	for _, pods := range []int{1, 9, 13} {
		// Killed when so many pods are there.
		killed := command("--speed", "8x")
		if err := killed.Start(); err != nil {
			t.Fatal(err)
		}
		for there := 0; there < pods && ctx.Err() == nil; {
			list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{LabelSelector: apply.Label})
			if err != nil {
				t.Fatal(err)
			}
			there = len(list.Items)
		}
		if err := killed.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := killed.Wait(); err == nil {
			t.Fatal("it ended before it was killed")
		}
		var stderr bytes.Buffer
		again := command("--speed", "max")
		again.Stderr = &stderr
		if err := again.Run(); err != nil {
			t.Fatalf("killed at %d pods and begun again: %v\n%s", pods, err, &stderr)
		}
		if strings.Contains(stderr.String(), "left out") || !strings.Contains(stderr.String(), "--to-cluster --cleanup") {
			t.Errorf("killed at %d pods and begun again, it says:\n%s", pods, &stderr)
		}
		if d := cmp.Diff(want, lasting(contents(ctx, t, config, apply.Label, essence))); d != "" {
			t.Errorf("killed at %d pods, the end is another (-one run +two):\n%s", pods, d)
		}
	}
	if out, err := command("--cleanup").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left := contents(ctx, t, config, apply.Label, func(map[string]any) string { return "" }); len(left) > 0 {
		t.Errorf("--cleanup has left %v", left)
	}
}

// A cluster with nodes of its own is refused, and a dry run writes nothing;
// where it is meant, what isn't the replay's stays as it is.
func TestForeignNodesAndDryRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.Shared(t)
	config, client := cluster.Config(), cluster.Client()
	// A node of another user, with the name of one on the tape, and another.
	for _, name := range []string{"ip-10-0-1-10", "of-somebody"} {
		if _, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}()
	}
	version := func(o map[string]any) string {
		meta := o["metadata"].(map[string]any)
		if labels, _ := meta["labels"].(map[string]any); labels["apiserver.kubernetes.io/identity"] != nil {
			return "its own, renewed every ten seconds" // pkg/controlplane/apiserver/server.go
		}
		return fmt.Sprint(meta["resourceVersion"])
	}
	before := contents(ctx, t, config, "", version)
	var foreign *apply.ForeignNodesError
	if _, err := play(t, config, replay.File(example("surge")), replay.Max).Run(ctx); !errors.As(err, &foreign) || foreign.Count != 2 {
		t.Errorf("found error %v, want two nodes refused", err)
	}
	var steps []string
	dry := play(t, config, replay.File(example("surge")), replay.Max, apply.DryRun(), apply.KnownCluster(), apply.OnStep(func(s apply.Step) {
		steps = append(steps, s.String())
	}))
	if _, err := dry.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := dry.Cleanup(ctx); err != nil {
		t.Fatal(err)
	}
	if len(steps) < 240 {
		t.Errorf("a dry run tells of %d steps", len(steps))
	}
	if d := cmp.Diff(before, contents(ctx, t, config, "", version)); d != "" {
		t.Errorf("something was written (-before +after):\n%s", d)
	}
	meant := play(t, config, replay.File(example("surge")), replay.Max, apply.KnownCluster())
	report, err := meant.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Skipped) != 1 || report.Skipped[0].Example != "ip-10-0-1-10" {
		t.Errorf("left out %v, want what the tape says of ip-10-0-1-10", report.Skipped)
	}
	if _, err := meant.Cleanup(ctx); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, contents(ctx, t, config, "", version)); d != "" {
		t.Errorf("another user's object was touched (-before +after):\n%s", d)
	}
}

// What a replay would do and what it does are the same writes, in the same
// order after the initial state. What a server adds, and has to be patched
// away, can't be foretold.
func TestDryRunTellsTheTruth(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	config := testcluster.Shared(t).Config()
	told := func(opts ...apply.Option) (steps []string, a *apply.Applier) {
		var first []string
		a = play(t, config, replay.File(example("spot-vanish")), replay.Max, append(opts, apply.Heartbeat(0), apply.OnStep(func(s apply.Step) {
			switch {
			case s.Resource == "nodes" && s.Verb == apply.Patch:
			case s.At == 0:
				first = append(first, s.String())
			default:
				steps = append(steps, s.String())
			}
		}))...)
		if _, err := a.Run(ctx); err != nil {
			t.Fatal(err)
		}
		slices.Sort(first)
		return append(first, steps...), a
	}
	would, _ := told(apply.DryRun())
	did, a := told()
	if d := cmp.Diff(would, did); d != "" || len(did) == 0 {
		t.Errorf("(-would +did):\n%s", d)
	}
	cleaned(ctx, t, a)
}

// A tape that is played in a loop starts over in the cluster too.
func TestLoop(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	config := testcluster.Shared(t).Config()
	once, stop := context.WithCancel(ctx)
	defer stop()
	var gone int
	a := playFrom(t, config, replay.File(example("spot-vanish")), []replay.Option{replay.WithSpeed(replay.Max), replay.Loop()},
		apply.OnStep(func(s apply.Step) {
			if s.Verb == apply.Delete && s.Resource == "nodes" {
				if gone++; gone == 3 {
					stop()
				}
			}
		}))
	if _, err := a.Run(once); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if report := a.Report(); len(report.Skipped) > 0 {
		t.Errorf("left out: %v", report.Skipped)
	}
	cleaned(ctx, t, a)
}
