package invariant_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// ends returns a damage that sets when a deleted pod is to end, and its grace.
func ends(at string, grace int) func(object) {
	return all(set(at, "metadata", "deletionTimestamp"), set(grace, "metadata", "deletionGracePeriodSeconds"))
}

// movedPod is deleted at 00:03:48 and removed at 00:03:50, position 14.190s. Here its time is over a second before, so
// that kube-apiserver moves its deletionTimestamp to the moment of the removal.
func TestLaterDeletionTimestamp(t *testing.T) {
	const deleted, removed, gone = 12182 * time.Millisecond, 14190 * time.Millisecond, 14194 * time.Millisecond
	late := func(p *tape) {
		p.opts.Lag = 0
		p.opts.Partial = true // versions are out of order where a test moves lines
		p.each(pods, movedPod, removed, ends("2026-11-21T00:03:50Z", 0))
		p.one(pods, movedPod, deleted, ends("2026-11-21T00:03:49Z", 1))
	}
	for name, tc := range map[string]struct {
		change func(*tape)
		sound  bool
	}{
		"the moment of the removal": {func(*tape) {}, true},
		"a moment in a gap, which a list shows": {func(p *tape) {
			p.move(pods, movedPod, gone, 20*second)
			p.move(pods, movedPod, removed, 19*second)
			p.insert(timeline.Event{At: 13 * second, Type: timeline.Gap, Resource: pods})
			p.insert(timeline.Event{At: 19 * second, Type: timeline.Sync, Resource: pods})
		}, true},
		"an unknown moment": {func(p *tape) { p.opts.Start = time.Time{} }, true},
		"a moment long before": {func(p *tape) {
			p.move(pods, movedPod, gone, 20*second)
			p.move(pods, movedPod, removed, 19*second)
		}, false},
		"a moment to come": {func(p *tape) { p.each(pods, movedPod, removed, ends("2026-11-21T00:04:20Z", 0)) }, false},
		"no less grace":    {func(p *tape) { p.each(pods, movedPod, removed, ends("2026-11-21T00:03:50Z", 1)) }, false},
		"more grace than is left to a pod whose time is over": {func(p *tape) {
			p.one(pods, movedPod, deleted, ends("2026-11-21T00:03:51Z", 3))
			p.each(pods, movedPod, removed, ends("2026-11-21T00:03:52Z", 2))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, "surge")
			late(p)
			tc.change(p)
			found, want := p.check(), []string{"deletion-is-final"}
			if tc.sound {
				want = nil
			}
			if broken := brokenBy(found); !slices.Equal(broken, want) {
				t.Errorf("found %v: want %v", found, want)
			}
		})
	}
}
