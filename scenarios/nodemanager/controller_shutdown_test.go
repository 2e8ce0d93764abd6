package nodemanager

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

func TestNothingStartsWithoutItsParts(t *testing.T) {
	var reports []string
	c := &NodeController{Report: func(err error) { reports = append(reports, err.Error()) }}
	var wg sync.WaitGroup
	c.Start(make(chan struct{}), &wg)
	wg.Wait()
	err := c.Run(context.Background())
	c.StopCreatingNodes()
	c.ResumeWaits()
	c.Close()
	if err == nil || strings.Count(err.Error(), "is nil: set it before the start") != 6 {
		t.Errorf("found %v, want six fields named", err)
	}
	if len(reports) != 3 || reports[0] != err.Error() {
		t.Errorf("found %q, want three reports of it", reports)
	}
}

func TestTheEndFreesEverybodyWhoWaits(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onStart = func(ctx context.Context, _ *api.Node) error { <-ctx.Done(); return ctx.Err() }
		w.begin() // no plan was made yet, so requests wait
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if reply := w.NodeDispenser.RequestNode(podNamed("p")); reply.Node != nil || reply.NoBinding {
				t.Errorf("found %+v, want an empty reply", reply)
			}
		})
		waiting.Go(func() {
			if _, err := w.NodeDispenser.RequestNodeContext(context.Background(), podNamed("q")); !errors.Is(err, ErrNoDispenser) {
				t.Errorf("found %v, want %v", err, ErrNoDispenser)
			}
		})
		synctest.Wait()
		w.end()
		waiting.Wait()
		if err := w.NodeDispenser.ReturnNodeContext(context.Background(), "a", true); !errors.Is(err, ErrNoDispenser) {
			t.Errorf("after the end: found %v, want %v", err, ErrNoDispenser)
		}
	})
}

func TestWhatWasReturnedIsSettled(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.add("a", api.NodeClaimed, func(n *api.Node) { n.Status.BoundPodName = "p" })
		if err := w.prepare(); err != nil {
			t.Fatal(err)
		}
		w.NodeDispenser.ReturnNode("a", true) // nobody has looked yet
		w.Close()
		w.want("nodes", w.state(), "a Available")
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.wait("p", "A")
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		synctest.Wait()
		w.step(4 * time.Second)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("found %v, want nil", err)
		}
		if !strings.Contains(w.state(), "Available p") {
			t.Errorf("found %s, want a node for p", w.state())
		}
	})
}

// TestANewControllerGoesOn ends a controller in the middle of everything and starts another on the same registry.
func TestANewControllerGoesOn(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.add("creating", api.NodeCreating)
		w.add("created", api.NodeCreated)
		w.add("cleaning", api.NodeCleaning, func(n *api.Node) { n.Status.BoundPodName = "p" })
		w.add("terminating", api.NodeTerminating)
		w.add("claimed", api.NodeClaimed, func(n *api.Node) { n.Status.BoundPodName = "q" })
		w.begin()
		w.want("nodes", w.state(), "claimed Claimed q, cleaning Terminated, created Available, creating Terminated, "+
			"terminating Terminated")
		w.want("instances", w.cloud.instances(), "i-claimed of claimed, i-created of created")
		if text, ok := w.LogRegistry.GetLog("cleaning"); !ok {
			t.Errorf("the log of cleaning: found %q, %t, want it saved", text, ok)
		}
		// Called again while they are busy or done, they find nothing to do.
		w.StopCreatingNodes()
		w.ResumeWaits()
		w.step(time.Second)
		w.want("stops", w.cloud.stopCalls(), "map[i-cleaning:1 i-terminating:1]")
	})
}

func TestAnEndWhileTheCloudIsBusy(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onStart = func(ctx context.Context, _ *api.Node) error { <-ctx.Done(); return ctx.Err() }
		w.cloud.onStop = func(string, int) error { return errRefused }
		w.add("a", api.NodeAvailable)
		w.order("b")
		w.stop("a")
		w.step(time.Second)
		w.end()
		w.want("nodes", w.state(), "a Terminating, b Creating")

		// The instance of b was never started; that of a still runs. The next controller sees to both.
		w.cloud.onStart, w.cloud.onStop = nil, nil
		next := w.controller(w.CloudStatus, w.Events)
		quit := make(chan struct{})
		var wg sync.WaitGroup
		next.Start(quit, &wg)
		synctest.Wait()
		w.want("nodes after a new start", w.state(), "a Terminated, b Terminated")
		w.want("instances after it", w.cloud.instances(), "")
		close(quit)
		wg.Wait()
	})
}

func TestAnInstanceThatArrivesAtTheEndIsKept(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onStart = func(ctx context.Context, _ *api.Node) error { <-ctx.Done(); return nil }
		w.order("a")
		w.end()
		node, err := w.nodes.GetNode("a")
		if err != nil || node.Status.InstanceID != "i-1" || node.Status.Phase != api.NodeCreated {
			t.Errorf("found %+v, %v, want it Created with its instance, for the next controller", node, err)
		}
	})
}

func TestIntervals(t *testing.T) {
	production := NodeControllerConfig{
		PoolInterval: 7 * time.Second, HeartbeatInterval: 10 * time.Second, ReaperInterval: 10 * time.Second,
	}
	for want, c := range map[string]NodeControllerConfig{
		"": DefaultNodeControllerConfig(),
		"pool interval 7s: want it longer than the heartbeat interval 10s": production,
	} {
		got := ""
		if err := c.Validate(5 * time.Second); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	if err := DefaultNodeControllerConfig().Validate(10 * time.Second); err == nil {
		t.Error("a client that waits for 10s: found no error")
	}
	if got := (NodeControllerConfig{PoolInterval: -1}).withDefaults(); got != DefaultNodeControllerConfig() {
		t.Errorf("found %+v, want the defaults", got)
	}
}
