//go:build controlplane

package app_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// TestReplayToCluster does with the real program what docs/apply.md shows: the
// initial state, a recording, the tape; and the ways in which it ends.
func TestReplayToCluster(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.New(t, testcluster.Options{})
	client, nodesim, kubeconfig := cluster.Client(), build(t), filepath.Join(t.TempDir(), "kubeconfig")
	if err := testcluster.WriteKubeconfig(kubeconfig, cluster.Config()); err != nil {
		t.Fatal(err)
	}
	tape := filepath.Join("..", "..", "..", "examples", "spot-vanish.yaml")
	command := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.CommandContext(ctx, nodesim, append([]string{"replay", tape, "--to-cluster", "--kubeconfig", kubeconfig}, args...)...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd, &out
	}
	does := func(says string, args ...string) {
		t.Helper()
		cmd, out := command(args...)
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), says) {
			t.Fatalf("%v: error %v, want %q in what it says:\n%s", args, err, says, out)
		}
	}
	ours := func() int {
		t.Helper()
		list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "nodesim.dev/replay=spot-vanish"})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}

	does("create nodes ip-10-0-2-10", "--dry-run")
	if n := ours(); n > 0 {
		t.Fatalf("a dry run has made %d nodes", n)
	}
	does("the initial state is written", "--to", "0s")
	rec := record(ctx, t, nodesim, kubeconfig, "spot-vanish", testcluster.Group{Name: "spot-burst"})
	does("--to-cluster --cleanup", "--speed", "max")
	rec.await(ctx, t, `"type":"DELETED","resource":"nodes"`)
	rec.stop(t)
	if d := cmp.Diff(story(t, tape), story(t, rec.tape)); d != "" {
		t.Errorf("the recording tells another story (-tape +recording):\n%s", d)
	}

	// An interrupt ends it in order.
	cmd, out := command("--speed", "0.01x")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		return ours() == 3, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(out.String(), "nodesim: interrupted at T+") || !strings.Contains(out.String(), "--cleanup --kubeconfig=") {
		t.Errorf("interrupted: error %v, and it says:\n%s", err, out)
	}
	does("nodes: 0 created, 0 updated, 3 deleted", "--cleanup")

	// So does a pipe that is no longer read, and nothing is left: of the command
	// that takes it away no user would learn.
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd, _ = command("--speed", "0.01x")
	cmd.Stdout, cmd.Stderr = writer, writer
	if err := errors.Join(cmd.Start(), writer.Close()); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(reader).ReadString('\n'); err != nil || !strings.Contains(line, "the initial state is written") || ours() != 3 {
		t.Errorf("found %q, %v, and %d nodes, want 3", line, err, ours())
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	exit := (*exec.ExitError)(nil)
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 || ours() != 0 {
		t.Errorf("a broken pipe: found %v and %d nodes, want exit status 1 and none", err, ours())
	}

	// Another user's node; the context has to be named.
	if _, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cmd, out = command("--speed", "max")
	if err := cmd.Run(); err == nil || !strings.Contains(out.String(), "--i-know-this-cluster=") || ours() > 0 {
		t.Fatalf("foreign nodes: error %v, and it says:\n%s", err, out)
	}
	_, known, _ := strings.Cut(strings.TrimSpace(out.String()), "--i-know-this-cluster=")
	does("4 updated, 1 deleted", "--speed", "max", "--i-know-this-cluster", known)
	does("2 deleted", "--cleanup")
	does("nothing to take away: no object is labelled nodesim.dev/replay=", "--cleanup")
	if _, err := client.CoreV1().Nodes().Get(ctx, "theirs", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}
