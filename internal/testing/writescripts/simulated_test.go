package writescripts_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/internal/testing/writescripts"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/timeline"
)

// only runs the scripts whose names contain a text.
var only = flag.String("script", "", "run the scripts whose names contain this")

// few is how many scripts run, evenly chosen.
var few = flag.Int("scripts", 30, "how many scripts run, where NODESIM_SOAK does not ask for all")

// chosen are the scripts to run.
func chosen(t testing.TB) (scripts []writescripts.Script, all bool) {
	t.Helper()
	every, err := writescripts.All()
	if err != nil {
		t.Fatal(err)
	}
	if *only == "" && os.Getenv("NODESIM_SOAK") != "" {
		return every, true
	}
	for i, s := range every {
		if *only != "" && strings.Contains(s.Name, *only) || *only == "" && i*(*few)/len(every) != (i-1)*(*few)/len(every) {
			scripts = append(scripts, s)
		}
	}
	return scripts, false
}

// cluster is the scenario of a cluster with a number of node groups, slot-00 and so on, of three nodes each.
func cluster(t testing.TB, slots int) *scenarios.File {
	t.Helper()
	var text strings.Builder
	text.WriteString(`apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: scripts, title: nodes for scripts of writes}
timeLimit: 200h
settle: 190h
cluster: {provider: eks, kubernetesVersion: "1.35"}
groups:
`)
	for i := range slots {
		fmt.Fprintf(&text, "- {name: slot-%02d, nodes: 3, instanceType: m5.large}\n", i)
	}
	d, err := scenarios.Parse("scripts.yaml", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// simulated runs a script on a simulated cluster, and returns what it sees there and the tape.
func simulated(t *testing.T, s writescripts.Script) (rests []writescripts.Rest, tape []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.AtRest(simcluster.File(cluster(t, 1))))
		c.Start()
		on, err := writescripts.On(t.Context(), c.RESTConfig(), "script-000", "slot-00")
		if err != nil {
			t.Fatal(err)
		}
		if rests, err = s.Run(t.Context(), on, nil); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := c.WriteTape(&text); err != nil {
			t.Fatal(err)
		}
		tape = text.Bytes()
	})
	return rests, tape
}

// What a script makes of a simulated cluster obeys the invariants.
func TestScriptsComeToRest(t *testing.T) {
	scripts, _ := chosen(t)
	for _, s := range scripts {
		t.Run(s.Name, func(t *testing.T) {
			_, tape := simulated(t, s)
			r, err := timeline.NewReader(bytes.NewReader(tape))
			if err != nil {
				t.Fatal(err)
			}
			report, err := inspect.Check(r, inspect.CheckOptions(r.Header()))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range report.Violations {
				t.Error(v)
			}
		})
	}
}
