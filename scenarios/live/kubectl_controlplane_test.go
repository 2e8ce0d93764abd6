//go:build controlplane

package live_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
	"github.com/nodesim/nodesim/scenarios/live"
)

// kubectl runs the real one against the shared control plane.
func kubectl(ctx context.Context, t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := assets.Find("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+plane(t).KubeconfigPath(), "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	t.Logf("kubectl %s: %.300s", strings.Join(args, " "), out)
	return string(out), err
}

// People look at the pods, and interfere in the middle: the roll continues with what
// they have left.
func TestKubectl(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	var drained, deleted, pod string
	var names []string
	began := make(chan struct{})
	p := newRunner(t, scenario(t, "surge", append(small, "strategy=plain")...), live.Speed(20),
		live.BeforeBegin(func(ctx context.Context) error {
			for _, n := range nodesNow(ctx, t) {
				names = append(names, n.Name)
			}
			for _, one := range podsNow(ctx, t) {
				if strings.HasPrefix(one.Name, "web-") {
					pod = one.Name
				}
			}
			slices.Sort(names)
			drained, deleted = names[0], names[1]
			close(began)
			return nil
		}),
		live.AtEnd(func(ctx context.Context) error {
			names = nil
			for _, n := range nodesNow(ctx, t) {
				names = append(names, n.Name)
			}
			return nil
		}))
	done := begin(ctx, t, p, began)
	if out, err := kubectl(ctx, t, "logs", "-n", "shop", pod); err != nil || !strings.Contains(out, "\n") {
		t.Errorf("logs: %v", err)
	}
	if out, err := kubectl(ctx, t, "exec", "-n", "shop", pod, "--", "echo", "hello"); err != nil || !strings.Contains(out, "hello") {
		t.Errorf("exec: %v", err)
	}
	for _, args := range [][]string{
		{"cordon", drained},
		{"drain", drained, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=60s"},
		{"delete", "node", deleted, "--wait=false", "--ignore-not-found"}, // on a busy machine the roll has come to it first
	} {
		if _, err := kubectl(ctx, t, args...); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Logf("%s", r.report)
	if !slices.Equal(r.report.Outcomes, []string{""}) {
		t.Errorf("outcomes %q: want one that is complete", r.report.Outcomes)
	}
	if len(names) != 3 || slices.Contains(names, drained) || slices.Contains(names, deleted) {
		t.Errorf("in the end there are %v: want three without %s and %s", names, drained, deleted)
	}
	nothingLeft(ctx, t)
}

// kubectl top shows what the pods use, by an API that goes away with the
// live run.
func TestTop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	p := newRunner(t, scenario(t, "minimal"), live.BeforeBegin(func(ctx context.Context) error {
		until(ctx, t, "kubectl top works", func() (bool, error) {
			out, err := kubectl(ctx, t, "top", "nodes")
			return err == nil && strings.Contains(out, "ip-10-"), err
		})
		return context.Canceled // that is enough
	}))
	if _, err := p.Run(ctx); err == nil {
		t.Error("the live run continues after an error of BeforeBegin")
	}
	if out, err := kubectl(ctx, t, "top", "nodes"); err == nil {
		t.Errorf("kubectl top still works: %s", out)
	}
	nothingLeft(ctx, t)
}
