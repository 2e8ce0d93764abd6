package rolls

import (
	"errors"
	"io"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
)

func TestMain(m *testing.M) { golden.Main(m) }

var shipped = []string{"surge", "spot-loss", "stuck-drain"}

// A ScriptedObserver hands out one snapshot for each change of a node.
func TestProgressOfScriptedRolls(t *testing.T) {
	for _, name := range shipped {
		script, err := observe.Script(scenarios.Source(name))
		if err != nil {
			t.Fatal(err)
		}
		progress := New(script)
		for !script.AtEnd() {
			if err := progress.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		golden.Assert(t, name, progress.String())
	}
}

// A KubeObserver asks the fake clientset, after each event of the roll. It sees
// what the script has: the golden files are the same.
func TestProgressOfClusters(t *testing.T) {
	for _, name := range shipped {
		roll := fakeclient.ForTest(t, scenarios.Source(name))
		group := roll.Player().Header().Scope.Nodegroup
		progress := New(noderoll.NewKubeObserver(roll, group, ""))
		for err := error(nil); !errors.Is(err, io.EOF); err = roll.Step(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if err := progress.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		golden.Assert(t, name, progress.String())
	}
}
