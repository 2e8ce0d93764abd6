//go:build controlplane

package apply_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apply"
)

// What is recorded of the target while a tape is written into it tells the
// story of the tape, and Cleanup leaves nothing of it.
func TestRecordingOfTheTarget(t *testing.T) {
	for _, c := range []struct {
		story string
		speed replay.Speed
	}{
		{"surge", replay.Max},
		{"surge", 20},
		{"spot-vanish", replay.Max},
		{"stuck-drain-force", replay.Max},
		{"stuck-drain", 1}, // a node is blocked after ten seconds
	} {
		t.Run(c.story+" at "+c.speed.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
			defer cancel()
			config := testcluster.Shared(t).Config()
			before := contents(ctx, t, config, "", func(map[string]any) string { return "" })
			a := play(t, config, replay.File(example(c.story)), c.speed)
			if err := a.Open(ctx); err != nil {
				t.Fatal(err)
			}
			rec := record(ctx, t, config)
			began := time.Now()
			report, err := a.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s for %s", time.Since(began), report)
			rec.end(ctx, t)
			want, got := feed(t, example(c.story), example(c.story)), feed(t, rec.file, example(c.story))
			if c.speed == replay.Max {
				want = without(without(want, "blocked"), "unblocked") // needs ten seconds of tape
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("the recording tells another story (-tape +recording):\n%s", d)
			}
			if len(report.Skipped) > 0 {
				t.Errorf("left out: %v", report.Skipped)
			}
			if _, err := a.Cleanup(ctx); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(before, contents(ctx, t, config, "", func(map[string]any) string { return "" })); d != "" {
				t.Errorf("the cluster is not as it was (-before +after):\n%s", d)
			}
			if left := contents(ctx, t, config, apply.Label, func(map[string]any) string { return "" }); len(left) > 0 {
				t.Errorf("Cleanup has left %v", left)
			}
		})
	}
}
