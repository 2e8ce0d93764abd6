package controller

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { golden.Main(m) }

func TestReporterOnRecordedRoll(t *testing.T) {
	roll := fakeclient.ForTest(t, timeline.File("../surge.yaml"))
	var said strings.Builder
	if _, err := New(roll.Informers, &said); err != nil {
		t.Fatal(err)
	}
	roll.Play()
	golden.Assert(t, "surge", said.String())
}

func TestReporterOnSimulatedRoll(t *testing.T) {
	roll := fakeclient.ForTest(t, scenarios.Source("stuck-drain"))
	var said strings.Builder
	if _, err := New(roll.Informers, &said); err != nil {
		t.Fatal(err)
	}
	roll.Play()
	golden.Assert(t, "stuck-drain", said.String())
}
