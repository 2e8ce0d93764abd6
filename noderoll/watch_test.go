package noderoll_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/noderoll"
)

// flakyObserver fails while its mood is bad, and counts.
type flakyObserver struct {
	calls int
	bad   func(call int) bool
}

func (m *flakyObserver) Snapshot(ctx context.Context) (noderoll.Snapshot, error) {
	m.calls++
	if m.bad(m.calls) {
		return noderoll.Snapshot{}, errRefused
	}
	return noderoll.Snapshot{Total: m.calls}, ctx.Err()
}

// seen is an Update with its times counted from the start.
type seen struct {
	At, Stale time.Duration
	Total     int
	Failures  int
	Failed    bool
}

func TestWatchOutlivesErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := &flakyObserver{bad: func(call int) bool { return call >= 2 && call <= 5 }}
		var got []seen
		err := noderoll.Watch(t.Context(), o, noderoll.WatchOptions{RetryTo: 4 * time.Second}, func(u noderoll.Update) bool {
			got = append(got, seen{u.At.Sub(start), u.Stale, u.Snapshot.Total, u.Failures, u.Err != nil})
			return len(got) < 7
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []seen{
			{0, 0, 1, 0, false},
			{3 * time.Second, 3 * time.Second, 1, 1, true}, // the last good picture stays, and its age is told
			{4 * time.Second, 4 * time.Second, 1, 2, true},
			{6 * time.Second, 6 * time.Second, 1, 3, true},
			{10 * time.Second, 10 * time.Second, 1, 4, true},
			{14 * time.Second, 0, 6, 0, false},
			{17 * time.Second, 0, 7, 0, false},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestWatchGivesUpOnAStalePicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &flakyObserver{bad: func(int) bool { return true }}
		err := noderoll.Watch(t.Context(), o, noderoll.WatchOptions{MaxStale: time.Minute}, func(noderoll.Update) bool { return true })
		if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "nothing new for 1m0s, after 7 attempts") {
			t.Errorf("got error %v, want how long and how often, and the cause", err)
		}
	})
}

func TestWatchObeysItsContext(t *testing.T) {
	for name, bad := range map[string]bool{"between good looks": false, "between failures": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				o := &flakyObserver{bad: func(int) bool { return bad }}
				err := noderoll.Watch(ctx, o, noderoll.WatchOptions{}, func(noderoll.Update) bool { return true })
				if !errors.Is(err, context.DeadlineExceeded) || o.calls < 3 {
					t.Errorf("got error %v after %d looks, want that of the context after a few", err, o.calls)
				}
			})
		})
	}
}
