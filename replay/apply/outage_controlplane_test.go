//go:build controlplane

package apply_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apply"
)

// The way to the server breaks in the middle of a write, and then refuses for a
// while: what was asked may or may not have been done. The end is the same.
func TestOutages(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.Shared(t)
	want := endState(ctx, t, "surge")
	proxy := cluster.Proxy(t)
	var mu sync.Mutex
	writes, failed := 0, 0
	a := play(t, proxy.Config(cluster.Config()), replay.File(example("surge")), replay.Max,
		apply.OnStep(func(apply.Step) {
			mu.Lock()
			defer mu.Unlock()
			switch writes++; {
			case writes%40 == 0:
				if err := proxy.Refuse(); err != nil {
					t.Error(err)
				}
			case writes%7 == 0:
				proxy.CutAfter(200) // in the middle of the answer
			}
		}),
		apply.OnRetry(func(error) {
			mu.Lock()
			defer mu.Unlock()
			if failed++; failed%3 == 0 {
				if err := proxy.Resume(); err != nil {
					t.Error(err)
				}
			}
		}))
	report, err := a.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if report.Retries < 20 || len(report.Skipped) > 0 {
		t.Errorf("want many retries and nothing left out:\n%s", report)
	}
	if d := cmp.Diff(want, lasting(contents(ctx, t, cluster.Config(), apply.Label, essence))); d != "" {
		t.Errorf("the end is another (-without +with outages):\n%s", d)
	}
	if err := proxy.Resume(); err != nil {
		t.Fatal(err)
	}
	cleaned(ctx, t, play(t, cluster.Config(), replay.File(example("surge")), replay.Max))
}
