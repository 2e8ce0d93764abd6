// Package simcheck checks simulations against the real thing: a recording of a real kube-apiserver,
// kube-controller-manager and kube-scheduler, with kwok for the kubelets, against the simulation of the same story.
//
// In: a recording, and the name of a story. Each has a scenario file below stories/, which says what was there and what
// was done (nodes, pods, budgets, the roll's strategy, what a node loses), never what Kubernetes made of it. Out: a
// [tapediff.Report]. The package must never look at a recording in order to simulate.
//
// What [Exclusions] lists is not compared. It is empty: nothing in these stories had to be left out.
package simcheck

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

//go:embed stories/*.yaml
var stories embed.FS

// Exclusions hold what a simulation and a real control plane can't agree on, each with its source: at most
// [tapediff.MaxExclusions], and each has to be needed.
var Exclusions []tapediff.Exclusion

// OwnStages hold what can't agree besides with a recording that wasn't made by testcluster, whose stages the
// simulation's kwok plays.
var OwnStages = []tapediff.Exclusion{
	{
		Kind: "Pod", Reason: "Created", Component: "kwok_controller",
		Source: "kwok's own stage reports it (sigs.k8s.io/kwok, kustomize/stage/pod/general/pod-create.yaml), testcluster's pod-ready doesn't",
	},
	{
		Kind: "Pod", Reason: "ContainersNotReady", Component: tapediff.Conditions,
		Source: "kwok's own pod-create.yaml writes it before pod-ready.yaml makes the pod ready; testcluster's pod-ready is one write",
	},
	{
		Kind: "Pod", Reason: "Initialized", Component: tapediff.Conditions,
		Source: "kwok's own pod-create.yaml writes it a stage before Ready, testcluster's pod-ready in the same write",
	},
	{
		Kind: "ReplicaSet", Reason: "SuccessfulCreate", Component: "replicaset-controller",
		Source: "a source has 25 Events about an object, and then one in five minutes (client-go, tools/record/events_cache.go, " +
			"EventSourceObjectSpamFilter): what came before the recording may have used them up",
	},
}

// Simulate is the tape of a story, told with a seed.
func Simulate(story string, seed uint64) (*timeline.Reader, error) {
	data, err := stories.ReadFile("stories/" + story + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("simulate %s: %w", story, err)
	}
	return simulate(story, data, seed)
}

func simulate(story string, data []byte, seed uint64) (*timeline.Reader, error) {
	d, err := scenarios.Parse(story+".yaml", data)
	if err != nil {
		return nil, err
	}
	f, err := d.Resolve(nil, &seed)
	if err != nil {
		return nil, err
	}
	return f.Open()
}

// Against compares a recording of a story with its simulation. inOrder compares the order of the transitions across
// nodes, too: right where the roller takes one step after the other, on both tapes. more is excluded besides
// [Exclusions].
func Against(story string, seed uint64, recorded *timeline.Reader, inOrder bool, more ...tapediff.Exclusion) (tapediff.Report, error) {
	simulated, err := Simulate(story, seed)
	if err != nil {
		return tapediff.Report{}, err
	}
	return against(story, recorded, simulated, inOrder, more...)
}

// AgainstScenario is [Against] for the scenario of a text.
func AgainstScenario(name, text string, seed uint64, recorded *timeline.Reader, inOrder bool) (tapediff.Report, error) {
	simulated, err := simulate(name, []byte(text), seed)
	if err != nil {
		return tapediff.Report{}, err
	}
	return against(name, recorded, simulated, inOrder)
}

func against(story string, recorded, simulated *timeline.Reader, inOrder bool, more ...tapediff.Exclusion) (tapediff.Report, error) {
	report, err := tapediff.Compare(recorded, simulated, tapediff.Options{
		NameA: story + ": recorded", NameB: "simulated", Exclude: slices.Concat(Exclusions, more), InOrder: inOrder,
	})
	return report, errors.Join(err, simulated.Close())
}

// Folder is the environment variable that names a folder for [Tell]. `make test` sets it, and prints what is there: go
// test hides what a test that passes says.
const Folder = "NODESIM_MEASURED"

// Tell writes how much was compared and how much excluded, one line, to a file of its own in the folder that [Folder]
// names, if it names one.
func Tell(name, line string) error {
	folder := os.Getenv(Folder)
	if folder == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(folder, name+".txt"), []byte(line+"\n"), 0o644); err != nil {
		return fmt.Errorf("tell of %s: %w", name, err)
	}
	return nil
}
