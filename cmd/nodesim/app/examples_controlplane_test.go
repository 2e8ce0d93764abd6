//go:build controlplane

package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/nodesim/nodesim/internal/testing/clusterstories"
	"github.com/nodesim/nodesim/internal/testing/simcheck"
	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// canary is in the environment of the workload's pods, and in an
// annotation. No tape made with default settings may hold it.
const canary = "hunter2-do-not-record"

// TestExamples runs four stories on a real control plane, records them with
// the real program, and checks the recordings against the tapes in examples/:
// two runs of the same story must be alike in all that package tapediff
// compares, without any exclusion. In the same way it checks them against the
// simulations of these stories.
// With NODESIM_RECORD_EXAMPLES=1 the recordings become those tapes.
func TestExamples(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.New(t, testcluster.Options{
		NodeGrace: 20 * time.Second, NodeStart: 3 * time.Second, PodStart: 4 * time.Second, PodStop: 2 * time.Second,
	})
	if err := cluster.StartControllers(); err != nil {
		t.Fatal(err)
	}
	client, group := cluster.Client(), testcluster.Group{Name: "spot-burst", Zones: []string{"us-east-1a", "us-east-1b", "us-east-1c"}}
	if err := group.JoinAll(ctx, client, 1, 3, "ami-0a1b"); err != nil {
		t.Fatal(err)
	}
	web := testcluster.Workload{
		Replicas: 12, MinAvailable: 10,
		Env: map[string]string{"DB_PASSWORD": canary}, Annotations: map[string]string{"example.com/note": canary},
	}
	if err := web.Create(ctx, client, group); err != nil {
		t.Fatal(err)
	}
	nodesim := build(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := testcluster.WriteKubeconfig(kubeconfig, cluster.Config()); err != nil {
		t.Fatal(err)
	}

	t.Run("surge", func(t *testing.T) {
		rec := record(ctx, t, nodesim, kubeconfig, "surge", group, "--until-complete")
		report, err := testcluster.Roll{
			Group: group, Retry: time.Second, Pause: 2 * time.Second, Done: func(step string) { t.Log(step) },
		}.Run(ctx, client)
		if err != nil {
			t.Fatal(err)
		}
		rec.wait(t)
		refused := 0
		for _, n := range report.Refused {
			refused += n
		}
		if refused == 0 {
			t.Error("the budget refused no eviction: the story lacks its point")
		}
		rec.compare(t)
	})
	if err := web.AtRest(ctx, client); err != nil {
		t.Fatal(err)
	}
	t.Run("spot-vanish", func(t *testing.T) {
		rec := record(ctx, t, nodesim, kubeconfig, "spot-vanish", group)
		if err := clusterstories.Vanish("ip-10-0-2-11", web)(ctx, client); err != nil {
			t.Fatal(err)
		}
		rec.stop(t)
		rec.compare(t)
	})
	// Two more groups, whose budgets allow nothing. They come to the cluster now, so that no node of theirs is in a
	// zone of the one that vanished.
	stuck := func(t *testing.T, name string, generation int) testcluster.Roll {
		t.Helper()
		locked := testcluster.Group{Name: name, Capacity: "ON_DEMAND", Zones: group.Zones}
		if err := locked.JoinAll(ctx, client, generation, 2, "ami-0a1b"); err != nil {
			t.Fatal(err)
		}
		if err := (testcluster.Workload{Name: name, Replicas: 8, MinAvailable: 8}).Create(ctx, client, locked); err != nil {
			t.Fatal(err)
		}
		return testcluster.Roll{
			Group: locked, Generation: generation + 1, Retry: time.Second, Pause: 2 * time.Second,
			EvictionTimeout: 20 * time.Second, Done: func(step string) { t.Log(step) },
		}
	}
	t.Run("locked", func(t *testing.T) { // ends when both have
		t.Run("stuck-drain", func(t *testing.T) {
			t.Parallel()
			roll := stuck(t, "workers", 3)
			rec := record(ctx, t, nodesim, kubeconfig, "stuck-drain", roll.Group)
			report, err := roll.Run(ctx, client)
			if !errors.Is(err, testcluster.ErrEvictionTimeout) {
				t.Fatalf("the roll: found error %v, want it stopped by its time limit", err)
			}
			if len(report.Evicted) > 0 || len(report.Deleted) > 0 {
				t.Errorf("the roll: found %+v, want no pod evicted and no node deleted", report)
			}
			rec.stop(t)
			rec.compare(t)
		})
		t.Run("stuck-drain-force", func(t *testing.T) {
			t.Parallel()
			roll := stuck(t, "batch", 5)
			roll.Force = true
			rec := record(ctx, t, nodesim, kubeconfig, "stuck-drain-force", roll.Group, "--until-complete")
			report, err := roll.Run(ctx, client)
			if err != nil {
				t.Fatal(err)
			}
			rec.wait(t)
			if len(report.Evicted) > 0 || len(report.Forced) != 2 {
				t.Errorf("the roll: found %+v, want the pods of 2 nodes deleted and none evicted", report)
			}
			rec.compare(t)
		})
	})
}

func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "nodesim")
	if out, err := exec.Command("go", "build", "-o", bin, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// recording is a running `nodesim record`.
type recording struct {
	cmd    *exec.Cmd
	story  string
	tape   string
	stderr bytes.Buffer
}

// record starts the program and returns when the initial lists are on the tape.
func record(ctx context.Context, t *testing.T, nodesim, kubeconfig, story string, group testcluster.Group, args ...string) *recording {
	t.Helper()
	r := &recording{story: story, tape: filepath.Join(t.TempDir(), story+".yaml")}
	args = append([]string{
		"record", "--kubeconfig", kubeconfig, "--provider", "eks", "--nodegroup", group.Name, "--out", r.tape,
	}, args...)
	r.cmd = exec.CommandContext(ctx, nodesim, args...)
	r.cmd.Stderr = &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const resources = 4 // nodes, pods, events, poddisruptionbudgets
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) {
		b, err := os.ReadFile(r.tape)
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		return bytes.Count(b, []byte(`"type":"SYNC"`)) >= resources, err
	})
	if err != nil {
		t.Fatalf("no recording: %v\n%s", errors.Join(err, r.cmd.Process.Kill(), r.cmd.Wait()), &r.stderr)
	}
	return r
}

// await waits until a text is on the tape: a watch may lag what was written.
func (r *recording) await(ctx context.Context, t *testing.T, text string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) {
		b, err := os.ReadFile(r.tape)
		return bytes.Contains(b, []byte(text)), err
	})
	if err != nil {
		t.Fatalf("the recording has no %s: %v", text, errors.Join(err, r.cmd.Process.Kill(), r.cmd.Wait()))
	}
}

// stop ends the recording as ctrl-c does.
func (r *recording) stop(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	r.wait(t)
}

func (r *recording) wait(t *testing.T) {
	t.Helper()
	if err := r.cmd.Wait(); err != nil {
		t.Fatalf("nodesim record: %v\n%s", err, &r.stderr)
	}
	usage := r.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("nodesim record took %s of CPU and %d MB, and says:\n%s",
		r.cmd.ProcessState.UserTime()+r.cmd.ProcessState.SystemTime(), usage.Maxrss>>10, &r.stderr)
}

// maxExample bounds how large a committed tape may be.
const maxExample = 400 << 10

// compare checks the recording against the committed tape, or makes it that one.
func (r *recording) compare(t *testing.T) {
	t.Helper()
	b, err := os.ReadFile(r.tape)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte(canary)) {
		t.Error("a canary is on the tape")
	}
	if len(b) > maxExample {
		t.Errorf("the tape has %d bytes, want at most %d", len(b), maxExample)
	}
	committed := filepath.Join("..", "..", "..", "examples", r.story+".yaml")
	if os.Getenv("NODESIM_RECORD_EXAMPLES") == "1" {
		b = regexp.MustCompile(`(?m)^  name: .*$`).ReplaceAll(b, []byte("  name: "+r.story))
		if err := os.WriteFile(committed, b, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Log("look at the tape, and accept what it shows with: nodesim test --update examples")
	}
	if d := cmp.Diff(story(t, committed), story(t, r.tape)); d != "" {
		t.Errorf("the recording tells another story than %s (-committed +recorded):\n%s", committed, d)
	}
	was, is := open(t, committed), open(t, r.tape)
	report, err := tapediff.Compare(was, is, tapediff.Options{NameA: "committed", NameB: "recorded", InOrder: true})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Equal() {
		t.Errorf("the recording isn't like %s:\n%s", committed, report)
	}
	t.Log(report.Summary())
	r.hold(t)
}

// hold checks the recording against the simulation of its story.
func (r *recording) hold(t *testing.T) {
	t.Helper()
	report, err := simcheck.Against(r.story, 1, open(t, r.tape), true)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Equal() {
		t.Errorf("the simulation isn't like the recording:\n%s", report)
	}
	t.Log(report.Summary())
	if err := simcheck.Tell(r.story, report.Summary()); err != nil {
		t.Error(err)
	}
}

func open(t *testing.T, tape string) *timeline.Reader {
	t.Helper()
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() }) // it was only read
	return r
}

// story is the feed of a tape without its times.
func story(t *testing.T, tape string) []string {
	t.Helper()
	r := open(t, tape)
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	if err := observe.Feed(r, o, func(e noderoll.Entry) error {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(e.Kind, " ", e.Node, " ", e.Reason)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !r.Complete() {
		t.Errorf("%s: not complete: %s", tape, r.Torn())
	}
	return lines
}
