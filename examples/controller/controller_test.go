package controller

import (
	"strings"
	"testing"

	"k8s.io/client-go/informers"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fakeclient"
)

func TestMain(m *testing.M) { golden.Main(m) }

func TestReporterOnRecordedRoll(t *testing.T) {
	client, err := fakeclient.New(replay.File("../surge.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })

	var said strings.Builder
	factory := informers.NewSharedInformerFactory(client, 0)
	reporter := New(factory, &said)
	client.Track(factory.Core().V1().Pods().Informer())
	if _, err := client.Handle(factory.Core().V1().Nodes().Informer(), reporter.Handler()); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	t.Cleanup(factory.Shutdown) // t.Context has ended by then

	if err := client.StepTo(t.Context(), replay.End); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "surge", said.String())
}
