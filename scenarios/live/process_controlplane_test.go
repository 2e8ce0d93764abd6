//go:build controlplane

package live_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/nodesim/nodesim/scenarios/live"
)

var binary = sync.OnceValues(func() (string, error) {
	dir, err := tempFolder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "nodesim")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/nodesim").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// A process is nodesim as people run it.
type process struct {
	*exec.Cmd
	out, err bytes.Buffer
}

// nodesim starts a small surge that a script would roll, on the shared control
// plane.
func nodesim(ctx context.Context, t *testing.T, args ...string) *process {
	t.Helper()
	check(t, plane(t).Config())
	swept(t, scenario(t, "surge", append(small, "strategy=plain")...))
	all := []string{patient(t, "surge"), "--set", "strategy=plain"}
	for _, s := range small {
		all = append(all, "--set", s)
	}
	return startProcess(t, append(all, args...)...)
}

// startProcess starts nodesim simulate --live on the shared control plane.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(path, append([]string{"simulate", "--live", "--kubeconfig", plane(t).KubeconfigPath()}, args...)...)}
	p.Stdout, p.Stderr = &p.out, &p.err
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Signal(syscall.SIGQUIT) // where it hangs; it may have ended
			_ = p.Wait()
		}
		if t.Failed() {
			t.Logf("%v:\n%s%s", args, p.out.String(), p.err.String())
		}
	})
	return p
}

// until waits for something in the cluster.
func until(ctx context.Context, t *testing.T, what string, is func() (bool, error)) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		ok, err := is()
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waiting until %s: %v, %v", what, err, ctx.Err())
		case <-ticker.C:
		}
	}
}

func nodesNow(ctx context.Context, t *testing.T) []corev1.Node {
	t.Helper()
	list, err := client(t).CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func podsNow(ctx context.Context, t *testing.T) []corev1.Pod {
	t.Helper()
	list, err := client(t).CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// rolling waits until the roll is in the middle: a node is drained. No eviction is
// under way then: one that is cut off would hold its budget for two minutes,
// whatever the speed (DeletionTimeout of the disruption controller).
func rolling(ctx context.Context, t *testing.T) {
	t.Helper()
	until(ctx, t, "a node is drained", func() (bool, error) {
		pods := podsNow(ctx, t)
		return slices.ContainsFunc(nodesNow(ctx, t), func(n corev1.Node) bool {
			return n.Spec.Unschedulable && !slices.ContainsFunc(pods, func(p corev1.Pod) bool {
				return p.Namespace == "shop" && p.Spec.NodeName == n.Name
			})
		}), nil
	})
}

// A process that is killed leaves everything; the next one resumes it.
func TestKilledAndGoneOnWith(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	first := nodesim(ctx, t, "--speed", "30x")
	rolling(ctx, t)
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()                                              // it was killed
	nodes, pods := map[string]types.UID{}, map[types.UID]string{} // pods with their nodes
	for _, n := range nodesNow(ctx, t) {
		nodes[n.Name] = n.UID
	}
	for _, p := range podsNow(ctx, t) {
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			pods[p.UID] = p.Spec.NodeName
		}
	}
	second := nodesim(ctx, t, "--speed", "60x", "--keep")
	until(ctx, t, "the record has another holder", func() (bool, error) {
		record, err := client(t).CoordinationV1().Leases(live.RecordNamespace).Get(ctx, live.RecordName, metav1.GetOptions{})
		return err == nil && strings.Contains(ptr.Deref(record.Spec.HolderIdentity, ""), fmt.Sprintf(":%d:", second.Process.Pid)), err
	})
	for _, p := range podsNow(ctx, t) {
		delete(pods, p.UID)
	}
	// The roll goes on while this looks: pods that are gone were on a node that is drained.
	kept := map[string]bool{}
	for _, n := range nodesNow(ctx, t) {
		if uid, was := nodes[n.Name]; was && uid != n.UID {
			t.Errorf("node %s is another one", n.Name)
		}
		kept[n.Name] = !n.Spec.Unschedulable
	}
	for uid, node := range pods {
		if kept[node] {
			t.Errorf("pod %s of node %s, which nobody drains, is gone", uid, node)
		}
	}
	if err := second.Wait(); err != nil {
		t.Fatalf("the second process: %v", err)
	}
	if text := second.err.String(); !strings.Contains(text, "resuming it") || !strings.Contains(text, "roll: complete") {
		t.Errorf("the second process says %q: want that it resumes, and that the roll is complete", text)
	}
	if n := len(nodesNow(ctx, t)); n != 3 {
		t.Errorf("%d nodes are kept, want 3", n)
	}
	// What was kept is removed by --cleanup, and by nobody else before.
	cleanup := nodesim(ctx, t, "--cleanup")
	if err := cleanup.Wait(); err != nil {
		t.Fatalf("cleanup: %v", err)
	}
	nothingLeft(ctx, t)
}

// ctrl-c ends it in order, and nothing is left.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	p := nodesim(ctx, t, "--speed", "30x")
	rolling(ctx, t)
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err == nil || p.ProcessState.ExitCode() != 1 {
		t.Errorf("the process ends with %v, want status 1", err)
	}
	if text := p.err.String(); !strings.Contains(text, "nodesim: interrupted at T+") {
		t.Errorf("it says %q", text)
	}
	nothingLeft(ctx, t)
}
