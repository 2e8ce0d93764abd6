package scenarios_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/nodesim/nodesim/internal/likeness"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// realStories were recorded from a real kube-apiserver, kube-controller-manager
// and kube-scheduler, with kwok for the kubelets: the tapes in examples/. Their
// like in testdata/likeness says what was there and what was done, not what
// Kubernetes made of it.
var realStories = []struct {
	name  string
	steps int // that are compared at the least, of both tapes
}{
	{"surge", 400}, {"spot-vanish", 120}, {"stuck-drain", 80}, {"stuck-drain-force", 230},
}

// TestSimulationIsLikeReality holds simulations against recordings of the same
// stories. Nothing is excluded, and every seed has to agree.
func TestSimulationIsLikeReality(t *testing.T) {
	for _, story := range realStories {
		t.Run(story.name, func(t *testing.T) {
			for seed := range uint64(5) {
				real := open(t, filepath.Join("..", "examples", story.name+".yaml"))
				sim, err := timeline.NewReader(bytes.NewReader(simulated(t, likenessFile(t, story.name, seed))))
				if err != nil {
					t.Fatal(err)
				}
				report, err := likeness.Compare(real, sim, likeness.Options{NameA: "recorded", NameB: "simulated", InOrder: true})
				if err != nil {
					t.Fatal(err)
				}
				if !report.Equal() || report.Budgets != 1 || report.Alike < story.steps {
					t.Errorf("seed %d, want no difference, a budget and at least %d steps: %s", seed, story.steps, report)
				}
				t.Log(report.Summary())
			}
		})
	}
}

func likenessFile(t *testing.T, name string, seed uint64) *scenarios.File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "likeness", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := scenarios.Parse(name+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, &seed)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func open(t *testing.T, tape string) *timeline.Reader {
	t.Helper()
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
