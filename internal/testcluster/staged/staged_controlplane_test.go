//go:build controlplane

package staged_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/likeness"
	"github.com/nodesim/nodesim/internal/testcluster"
	"github.com/nodesim/nodesim/internal/testcluster/staged"
	"github.com/nodesim/nodesim/timeline"
)

// perform records a story on a cluster of its own.
func perform(t *testing.T, s staged.Story, o testcluster.Options) *timeline.Reader {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	file := filepath.Join(t.TempDir(), s.Name+".yaml")
	if err := s.Record(ctx, testcluster.New(t, o), file); err != nil {
		t.Fatal(err)
	}
	r, err := timeline.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() }) // it was only read
	return r
}

// The same story, told twice on two real control planes, is the same story in all that is compared: nothing has to be
// excluded. It is the longest roll that there is: a budget refuses evictions, and the surge goes at the end.
func TestTwoRunsAreAlike(t *testing.T) {
	group := testcluster.Group{Name: "workers", Zones: []string{"us-east-1a", "us-east-1b"}}
	story := staged.Story{
		Name: "managed", Group: group, Nodes: 2, After: 3 * time.Second,
		Workloads: []testcluster.Workload{{Replicas: 4, MinAvailable: 3}},
		Act: staged.Roll(testcluster.Roll{
			Group: group, Surge: 2, CordonAll: true, AfterDrain: 500 * time.Millisecond, Pause: 100 * time.Millisecond,
		}),
	}
	first, second := perform(t, story, testcluster.Options{}), perform(t, story, testcluster.Options{})
	report, err := likeness.Compare(first, second, likeness.Options{NameA: "first", NameB: "second", InOrder: true})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Equal() || report.Nodes != 6 || report.Budgets != 1 || report.Alike < 150 {
		t.Error(report)
	}
	t.Log(report.Summary())
}

// A story told with the parameters of a committed recording is like it, under other names.
func TestStagedStoryIsTheRecordedOne(t *testing.T) {
	zones := []string{"us-east-1a", "us-east-1b", "us-east-1c"}
	workers, spot := testcluster.Group{Name: "workers", Zones: zones}, testcluster.Group{Name: "spot-burst", Zones: zones}
	web := testcluster.Workload{Replicas: 12, MinAvailable: 10}
	for _, s := range []staged.Story{
		{
			Name: "stuck-drain", Group: workers, Nodes: 2,
			Workloads: []testcluster.Workload{{Name: "workers", Replicas: 8, MinAvailable: 8}},
			Act:       staged.Roll(testcluster.Roll{Group: workers, EvictionTimeout: 12 * time.Second}),
		},
		{
			Name: "spot-vanish", Group: spot, Nodes: 3, Workloads: []testcluster.Workload{web},
			Act: staged.Vanish("ip-10-0-1-11", web),
		},
	} {
		told := perform(t, s, testcluster.Options{})
		committed, err := timeline.Open(filepath.Join("..", "..", "..", "examples", s.Name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		report, err := likeness.Compare(committed, told, likeness.Options{NameA: "committed", NameB: "told", InOrder: true})
		if err := errors.Join(err, committed.Close()); err != nil {
			t.Fatal(err)
		}
		if !report.Equal() {
			t.Errorf("%s: %s", s.Name, report)
		}
		t.Log(report.Summary())
	}
}
