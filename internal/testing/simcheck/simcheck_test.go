package simcheck_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/simcheck"
	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/timeline"
)

// recordings are the tapes in examples/. The tests behind the build tag controlplane hold new recordings of the same
// stories against the simulation.
var recordings = []struct {
	story       string
	nodes, pods int // of both tapes together, pods at the least
	steps       int // that are alike, at the least
}{
	{"surge", 6, 48, 400}, {"spot-vanish", 3, 32, 150}, {"stuck-drain", 3, 16, 80}, {"stuck-drain-force", 4, 32, 250},
}

// A simulation of a story is like the recording of it, whatever its seed.
func TestSimulationsAreLikeRecordings(t *testing.T) {
	var reports []tapediff.Report
	for _, story := range recordings {
		for seed := range uint64(5) {
			recorded := open(t, filepath.Join("..", "..", "..", "examples", story.story+".yaml"))
			report, err := simcheck.Against(story.story, seed, recorded, true)
			if err != nil {
				t.Fatal(err)
			}
			if !report.Equal() {
				t.Errorf("seed %d: %s", seed, report)
			}
			if report.Nodes != story.nodes || report.Pods < story.pods || report.Budgets != 1 || report.Alike < story.steps {
				t.Errorf("seed %d: want %+v and a budget compared: %s", seed, story, report.Summary())
			}
			t.Log(report.Summary())
			reports = append(reports, report)
		}
	}
	if err := tapediff.Unused(simcheck.Exclusions, reports...); err != nil {
		t.Error(err)
	}
}

// A simulation of another story isn't like it: the comparison can fail.
func TestAnotherStoryDiffers(t *testing.T) {
	for story, other := range map[string]string{"surge": "managed", "stuck-drain-force": "stuck-drain"} {
		recorded := open(t, filepath.Join("..", "..", "..", "examples", story+".yaml"))
		report, err := simcheck.Against(other, 1, recorded, true)
		if err != nil {
			t.Fatal(err)
		}
		if report.Equal() {
			t.Errorf("%s is like %s: %s", story, other, report)
		}
	}
}

func TestTell(t *testing.T) {
	t.Setenv(simcheck.Folder, "")
	if err := simcheck.Tell("surge", "seven steps"); err != nil {
		t.Error(err)
	}
	folder := t.TempDir()
	t.Setenv(simcheck.Folder, folder)
	if err := simcheck.Tell("surge", "seven steps"); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(folder, "surge.txt")); err != nil || string(b) != "seven steps\n" {
		t.Errorf("found %q, %v", b, err)
	}
	t.Setenv(simcheck.Folder, filepath.Join(folder, "missing"))
	if err := simcheck.Tell("surge", "seven steps"); err == nil {
		t.Error("no error where there is no folder")
	}
	if _, err := simcheck.Simulate("nothing", 1); err == nil {
		t.Error("no error for a story that there isn't")
	}
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
