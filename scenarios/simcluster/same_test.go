package simcluster_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/nodesim/nodesim/internal/testing/writescripts"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
)

// sameScripts are of every sort: a rollout, a drain under a budget, an owner whose end waits for its dependents, Jobs, taints.
var sameScripts = []string{
	"deployment-rollout/replicas=4/strategy=3", "drain/kind=StatefulSet/limit=1", "deployment-delete/replicas=3/policy=Foreground",
	"job-complete/parallelism=2/completions=3", "daemonset-nodes/what=2",
}

// A client that acts in order gets the same tape every time, byte for byte, whatever the number of processors. `make race` runs this
// under the race detector.
func TestTheSameTapeEveryTime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	all, err := writescripts.All()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, s := range all {
		for _, name := range sameScripts {
			if s.Name != name {
				continue
			}
			ran++
			t.Run(name, func(t *testing.T) {
				var first []byte
				for _, processors := range []int{1, 2, 4} {
					runtime.GOMAXPROCS(processors)
					tape := written(t, s)
					if first == nil {
						first = tape
					}
					if !bytes.Equal(first, tape) {
						t.Errorf("%d processors: another tape than with one: %s", processors, firstDifference(first, tape))
					}
				}
			})
		}
	}
	if ran != len(sameScripts) {
		t.Errorf("%d of %d scripts exist", ran, len(sameScripts))
	}
}

// written is the tape of a script.
func written(t *testing.T, s writescripts.Script) (tape []byte) {
	t.Helper()
	d, err := scenarios.Parse("same.yaml", []byte(`apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: same, title: three nodes}
timeLimit: 48h
cluster: {provider: eks}
groups: [{name: slot, nodes: 3}]
`))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.File(f))
		c.Start()
		on, err := writescripts.On(t.Context(), c.RESTConfig(), "same", "slot")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), on, nil); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := c.WriteTape(&text); err != nil {
			t.Fatal(err)
		}
		tape = text.Bytes()
	})
	return tape
}

// firstDifference are the first lines in which two tapes differ.
func firstDifference(a, b []byte) string {
	as, bs := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(as), len(bs)) {
		if !bytes.Equal(as[i], bs[i]) {
			return fmt.Sprintf("line %d:\n%.300s\n%.300s", i+1, as[i], bs[i])
		}
	}
	return "one is longer"
}
