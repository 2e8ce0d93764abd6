package nodemanager

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

func (w *fixture) stop(name string) {
	w.t.Helper()
	if err := w.prepare(); err != nil {
		w.t.Fatal(err)
	}
	if err := w.stopNode(name, nil); err != nil {
		w.t.Error(err)
	}
}

func TestAStop(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.add("a", api.NodeAvailable)
		w.stop("a")
		node, err := w.nodes.GetNode("a")
		if err != nil || node.Status.Phase != api.NodeTerminating || !node.Spec.Terminate {
			t.Errorf("at once: found %+v, %v, want Terminating, and Terminate kept", node, err)
		}
		w.step(time.Second)
		w.want("nodes", w.state(), "a Terminated")
		w.want("stops", w.cloud.stopCalls(), "map[i-a:1]")
		if len(w.cloud.dropped) != 1 || w.cloud.dropped[0] != "i-a" {
			t.Errorf("clients dropped: found %q, want i-a", w.cloud.dropped)
		}
	})
}

func TestAStopIsRepeatedUntilItSucceeds(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onStop = func(_ string, attempt int) error {
			if attempt < 4 {
				return errRefused
			}
			return nil
		}
		w.add("a", api.NodeAvailable)
		w.begin()
		w.stop("a")
		synctest.Wait()
		// 5, 10 and 20 seconds lie between the attempts. The reaper sees the node meanwhile, and leaves it alone.
		w.step(34 * time.Second)
		w.want("nodes before the last attempt", w.state(), "a Terminating")
		w.want("stops before it", w.cloud.stopCalls(), "map[i-a:3]")
		w.want("events before it", w.events(), "")
		w.step(time.Second)
		w.want("nodes after it", w.state(), "a Terminated")
		w.want("stops", w.cloud.stopCalls(), "map[i-a:4]")
		w.want("events", w.events(), "node-purged a")
	})
}

func TestANodeThatIsStoppedTwice(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onStop = func(_ string, attempt int) error {
			if attempt == 1 {
				return errRefused
			}
			return nil
		}
		w.add("a", api.NodeAvailable)
		w.stop("a")
		w.stop("a")
		synctest.Wait()
		w.stop("a")
		w.step(time.Minute)
		w.want("stops", w.cloud.stopCalls(), "map[i-a:2]")
		if err := w.stopNode("a", nil); err == nil {
			t.Error("a stop of a node that is gone: found no error")
		}
	})
}

func TestTheReaperStopsANodeOnce(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onStop = func(string, int) error {
			if w.clock.Since(epoch) < 10*time.Second {
				return errRefused
			}
			return nil
		}
		pod := w.wait("p", "A")
		pod.Status.Phase, pod.Status.BoundNodeName = api.PodRunning, "a"
		w.pods.Put(&pod)
		w.add("a", api.NodeClaimed, func(n *api.Node) { n.Spec.Terminate, n.Status.BoundPodName = true, "p" })
		// The pod of this one has gone on to another node, so it isn't told.
		w.add("b", api.NodeClaimed, func(n *api.Node) { n.Spec.Terminate, n.Status.BoundPodName = true, "p" })
		w.begin()
		w.step(10 * time.Second) // ten ticks; attempts at 1 and 6 seconds
		w.want("nodes", w.state(), "a Terminating, b Terminating")
		w.want("stops", w.cloud.stopCalls(), "map[i-a:2 i-b:2]")
		w.want("events", w.events(), "pod-ejected a p")
		w.step(6 * time.Second)
		w.want("nodes", w.state(), "a Terminated, b Terminated")
	})
}

func TestACancelWhileCreatingStopsTheInstance(t *testing.T) {
	inFixture(t, func(w *fixture) {
		arrives := make(chan struct{})
		w.cloud.onStart = func(ctx context.Context, _ *api.Node) error {
			select {
			case <-arrives:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		w.order("a")
		w.stop("a")
		w.step(time.Minute)
		w.want("nodes while the cloud is busy", w.state(), "a Terminating")
		w.want("stops", w.cloud.stopCalls(), "map[]")
		close(arrives)
		w.step(time.Second)
		w.want("nodes after it", w.state(), "a Terminated")
		w.want("stops", w.cloud.stopCalls(), "map[i-1:1]")
		w.want("instances", w.cloud.instances(), "")
		w.want("events", w.events(), "node-purged a")
	})
}

func TestABootOfThisControllerIsntLeftBehind(t *testing.T) {
	inFixture(t, func(w *fixture) {
		arrives := make(chan struct{})
		w.cloud.onStart = func(context.Context, *api.Node) error { <-arrives; return nil }
		w.order("a")
		w.StopCreatingNodes() // of an earlier controller
		synctest.Wait()
		w.want("nodes", w.state(), "a Creating")
		close(arrives)
		synctest.Wait()
		w.want("nodes", w.state(), "a Available")
	})
}

func TestACancelWhileCreatingOfAStartThatFails(t *testing.T) {
	inFixture(t, func(w *fixture) {
		fails := make(chan struct{})
		w.cloud.onStart = func(context.Context, *api.Node) error { <-fails; return errRefused }
		w.order("a")
		w.stop("a")
		close(fails)
		w.step(time.Second)
		w.want("nodes", w.state(), "a Terminated")
		w.want("events", w.events(), "node-purged a")
		w.want("stops", w.cloud.stopCalls(), "map[]")
	})
}

func TestACancelWhileBooting(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onProbe = func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
		w.order("a")
		w.want("nodes", w.state(), "a Created")
		w.stop("a")
		w.step(time.Second)
		w.want("nodes", w.state(), "a Terminated")
		w.want("instances", w.cloud.instances(), "")
	})
}

func TestACancelIsNoFailureOfTheBoot(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.NodeScaler = NewScaler(ScalerConfig{
			Standby: []StandbyNodeSpec{{InstanceType: "A", Count: 1}}, Backoff: Backoff{First: time.Hour, Max: time.Hour},
		})
		w.cloud.onRun = func(ctx context.Context, _ *api.Node) error { <-ctx.Done(); return ctx.Err() }
		w.order("a")
		w.stop("a")
		synctest.Wait()
		w.cloud.onRun = nil
		w.want("nodes", w.state(), "a Terminated")
		if _, err := w.poolOnce(); err != nil {
			t.Fatal(err)
		}
		if got := w.state(); !strings.Contains(got, "Available") {
			t.Errorf("found %s, want a standby node at once", got)
		}
	})
}

func TestAnInstanceWhoseNodeIsGone(t *testing.T) {
	inFixture(t, func(w *fixture) {
		arrives := make(chan struct{})
		w.cloud.onStart = func(context.Context, *api.Node) error { <-arrives; return nil }
		w.cloud.onStop = func(_ string, attempt int) error {
			if attempt == 1 {
				return errRefused
			}
			return nil
		}
		w.order("a")
		if _, err := w.nodes.PurgeNode(api.NewNode("a")); err != nil {
			t.Fatal(err)
		}
		close(arrives)
		w.step(6 * time.Second)
		w.want("instances", w.cloud.instances(), "")
		w.want("stops", w.cloud.stopCalls(), "map[i-1:2]")
	})
}
