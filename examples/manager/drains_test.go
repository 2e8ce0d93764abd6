package manager

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
)

func TestMain(m *testing.M) { golden.Main(m) }

func TestDrainsOfRecordedRoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apiserver.ForTest(t, replay.File("../surge.yaml"))
		unchecked := true   // controller-runtime takes a name once in a process, and tests run more often
		priorities := false // those of v0.24 may block for ever at their end (controller-runtime#3538)
		manager, err := ctrl.NewManager(server.RESTConfig(), ctrl.Options{
			Metrics:    metrics.Options{BindAddress: "0"}, // no socket
			Controller: config.Controller{SkipNameValidation: &unchecked, UsePriorityQueue: &priorities},
		})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		if err := (&Drains{Out: &said}).Setup(t.Context(), manager); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- manager.Start(t.Context()) }()
		t.Cleanup(func() { // t.Context has ended by then
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})

		// A minute of the bubble's time takes no time. Caches sync and workers start in the first one; in those after
		// an event queues run empty, with whatever is tried again.
		for err == nil {
			<-time.After(time.Minute)
			synctest.Wait()
			err = server.Player().Step()
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		golden.Assert(t, "surge", said.String())
	})
}
