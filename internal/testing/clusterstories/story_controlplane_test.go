//go:build controlplane

package clusterstories_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/clusterstories"
	"github.com/nodesim/nodesim/internal/testing/simcheck"
	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/timeline"
)

// execute records a story on a cluster of its own, and returns the tape's file.
func execute(t *testing.T, s clusterstories.Story, o testcluster.Options) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
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
	t.Parallel()
	group := testcluster.Group{Name: "workers", Zones: []string{"us-east-1a"}}
	story := clusterstories.Story{
		Name: "managed", Group: group, Nodes: 2, After: 3 * time.Second,
		Workloads: []testcluster.Workload{{Replicas: 4, MinAvailable: 3}},
		Act: clusterstories.Roll(testcluster.Roll{
			Group: group, Surge: 2, CordonAll: true, AfterDrain: 500 * time.Millisecond, Pause: 100 * time.Millisecond,
		}),
	}
	first, second := execute(t, story, testcluster.Options{}), execute(t, story, testcluster.Options{})
	report, err := tapediff.Compare(open(t, first), open(t, second), tapediff.Options{NameA: "first", NameB: "second", InOrder: true})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Equal() || report.Nodes != 6 || report.Budgets != 1 || report.Alike < 150 {
		t.Error(report)
	}
	t.Log(report.Summary())
	for _, tape := range []string{first, second} {
		report, err := simcheck.Against("managed", 1, open(t, tape), false)
		if err != nil {
			t.Fatal(err)
		}
		if !report.Equal() || report.Nodes != 6 || report.Budgets != 1 || report.Alike < 150 {
			t.Errorf("the simulation isn't like the recording:\n%s", report)
		}
		t.Log(report.Summary())
		if err := simcheck.Tell("managed", report.Summary()); err != nil {
			t.Error(err)
		}
	}
}

// A story told with the parameters of a committed recording is like it, under other names.
func TestStoryIsTheRecordedOne(t *testing.T) {
	t.Parallel()
	group := testcluster.Group{Name: "workers", Zones: []string{"us-east-1a", "us-east-1b", "us-east-1c"}}
	told := open(t, execute(t, clusterstories.Story{
		Name: "stuck-drain", Group: group, Nodes: 2,
		Workloads: []testcluster.Workload{{Name: "workers", Replicas: 8, MinAvailable: 8}},
		Act:       clusterstories.Roll(testcluster.Roll{Group: group, EvictionTimeout: 12 * time.Second}),
	}, testcluster.Options{}))
	committed := open(t, filepath.Join("..", "..", "..", "examples", "stuck-drain.yaml"))
	report, err := tapediff.Compare(committed, told, tapediff.Options{NameA: "committed", NameB: "told", InOrder: true})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Equal() {
		t.Error(report)
	}
	t.Log(report.Summary())
}
