//go:build controlplane

package live_test

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process that is suspended, as by a laptop's lid, until the cluster takes its
// nodes for dead: it goes on, they come back, and the roll ends.
func TestSuspended(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	p := nodesim(ctx, t, "--speed", "30x")
	rolling(ctx, t)
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := standing(ctx, t, client(t))
	until(ctx, t, "no node is Ready", func() (bool, error) {
		return !slices.ContainsFunc(nodesNow(ctx, t), ready), nil
	})
	if err := p.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, "nodes are Ready again", func() (bool, error) {
		for _, n := range nodesNow(ctx, t) {
			if ready(n) && before.nodes[n.Name].UID == n.UID {
				return true, nil
			}
		}
		return false, nil
	})
	if err := p.Wait(); err != nil {
		t.Fatalf("the process: %v", err)
	}
	if text := p.err.String(); !strings.Contains(text, "roll: complete") {
		t.Errorf("it says %q: want that the roll is complete", text)
	}
	nothingLeft(ctx, t)
}
