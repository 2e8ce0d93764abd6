//go:build controlplane

package staged_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/likeness"
	"github.com/nodesim/nodesim/internal/likeness/held"
	"github.com/nodesim/nodesim/internal/testcluster"
	"github.com/nodesim/nodesim/internal/testcluster/staged"
	"github.com/nodesim/nodesim/timeline"
)

// perform records a story on a cluster of its own, and returns the tape's file.
func perform(t *testing.T, s staged.Story, o testcluster.Options) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	file := filepath.Join(t.TempDir(), s.Name+".yaml")
	if err := s.Record(ctx, testcluster.New(t, o), file); err != nil {
		t.Fatal(err)
	}
	return file
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

// The same story, told twice on two real control planes, is the same story in all that is compared: nothing has to be
// excluded. It is the longest roll that there is, that of a managed node group: a budget refuses evictions, and the
// surge goes at the end. Its simulation is like it, too; but there the nodes of the surge join at once, and not one after
// the other, so that only each node's own order is compared.
func TestTwoRunsAreAlike(t *testing.T) {
	group := testcluster.Group{Name: "workers", Zones: []string{"us-east-1a"}}
	story := staged.Story{
		Name: "managed", Group: group, Nodes: 2, After: 3 * time.Second,
		Workloads: []testcluster.Workload{{Replicas: 4, MinAvailable: 3}},
		Act: staged.Roll(testcluster.Roll{
			Group: group, Surge: 2, CordonAll: true, AfterDrain: 500 * time.Millisecond, Pause: 100 * time.Millisecond,
		}),
	}
	first, second := perform(t, story, testcluster.Options{}), perform(t, story, testcluster.Options{})
	report, err := likeness.Compare(open(t, first), open(t, second), likeness.Options{NameA: "first", NameB: "second", InOrder: true})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Equal() || report.Nodes != 6 || report.Budgets != 1 || report.Alike < 150 {
		t.Error(report)
	}
	t.Log(report.Summary())
	for _, tape := range []string{first, second} {
		report, err := held.Against("managed", 1, open(t, tape), false)
		if err != nil {
			t.Fatal(err)
		}
		if !report.Equal() || report.Nodes != 6 || report.Budgets != 1 || report.Alike < 150 {
			t.Errorf("the simulation isn't like the recording:\n%s", report)
		}
		t.Log(report.Summary())
		if err := held.Tell("managed", report.Summary()); err != nil {
			t.Error(err)
		}
	}
}

// A story told with the parameters of a committed recording is like it, under other names.
func TestStagedStoryIsTheRecordedOne(t *testing.T) {
	group := testcluster.Group{Name: "workers", Zones: []string{"us-east-1a", "us-east-1b", "us-east-1c"}}
	told := open(t, perform(t, staged.Story{
		Name: "stuck-drain", Group: group, Nodes: 2,
		Workloads: []testcluster.Workload{{Name: "workers", Replicas: 8, MinAvailable: 8}},
		Act:       staged.Roll(testcluster.Roll{Group: group, EvictionTimeout: 12 * time.Second}),
	}, testcluster.Options{}))
	committed := open(t, filepath.Join("..", "..", "..", "examples", "stuck-drain.yaml"))
	report, err := likeness.Compare(committed, told, likeness.Options{NameA: "committed", NameB: "told", InOrder: true})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Equal() {
		t.Error(report)
	}
	t.Log(report.Summary())
}
