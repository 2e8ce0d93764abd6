package nodemanager

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// beatOnce runs one turn of the heartbeats.
func (w *fixture) beatOnce() {
	w.t.Helper()
	if err := w.prepare(); err != nil {
		w.t.Fatal(err)
	}
	w.heartbeat(w.tasks.Context())
	synctest.Wait()
}

// lastBeat is how long ago a node beat, below zero if nothing is known.
func (w *fixture) lastBeat(name string) time.Duration {
	w.NodeController.mu.Lock()
	defer w.NodeController.mu.Unlock()
	at, ok := w.beats[name]
	if !ok {
		return -1
	}
	return w.clock.Since(at)
}

func TestWhoHasAHeartbeat(t *testing.T) {
	inFixture(t, func(w *fixture) {
		asked := map[string]int{}
		w.cloud.onProbe = func(_ context.Context, instance string) error { // one at a time: each turn is awaited
			w.cloud.mu.Lock()
			defer w.cloud.mu.Unlock()
			asked[instance]++
			return nil
		}
		w.add("available", api.NodeAvailable)
		w.add("claimed", api.NodeClaimed)
		w.add("created", api.NodeCreated)
		w.add("addressed", api.NodeCreated, func(n *api.Node) { n.Status.Addresses = addressOf("i-addressed") })
		w.beatOnce()
		if len(asked) != 2 || asked["i-available"] != 1 || asked["i-addressed"] != 1 {
			t.Errorf("asked %v, want available and addressed, once each", asked)
		}
		if w.lastBeat("available") != 0 || w.lastBeat("addressed") != 0 || w.lastBeat("claimed") >= 0 {
			t.Errorf("found beats %v, want those of available and addressed", w.beats)
		}
	})
}

func TestSilentNodesHaveToGo(t *testing.T) {
	for name, c := range map[string]struct {
		phase api.NodePhase
		last  time.Duration // before now; below zero: nothing is known
		want  bool
	}{
		"five minutes":         {api.NodeAvailable, 5 * time.Minute, true},
		"as long as it may":    {api.NodeAvailable, HealthyTimeout, true},
		"not quite":            {api.NodeAvailable, HealthyTimeout - 1, false},
		"never seen":           {api.NodeAvailable, -1, false},
		"claimed, for its pod": {api.NodeClaimed, 5 * time.Minute, false},
	} {
		inFixture(t, func(w *fixture) {
			w.cloud.onProbe = func(context.Context, string) error { return errRefused }
			w.add("a", c.phase)
			if err := w.prepare(); err != nil {
				t.Fatal(err)
			}
			if c.last >= 0 {
				w.beats["a"] = epoch.Add(-c.last)
			}
			w.beatOnce()
			node, err := w.nodes.GetNode("a")
			if err != nil || node.Spec.Terminate != c.want {
				t.Errorf("%s: found %+v, %v, want Terminate %t", name, node.Spec, err, c.want)
			}
			if c.last < 0 && w.lastBeat("a") != 0 {
				t.Errorf("%s: found last beat %s, want it recorded now", name, w.lastBeat("a"))
			}
		})
	}
}

func TestANodeThatWasJustClaimedStays(t *testing.T) {
	inFixture(t, func(w *fixture) {
		seen := w.add("a", api.NodeAvailable)
		if err := w.prepare(); err != nil {
			t.Fatal(err)
		}
		w.beats["a"] = epoch.Add(-time.Hour)
		if _, err := w.nodes.Change("a", func(n *api.Node) error { n.Status.Phase = api.NodeClaimed; return nil }); err != nil {
			t.Fatal(err)
		}
		w.markSilent(seen)
		if node, err := w.nodes.GetNode("a"); err != nil || node.Spec.Terminate {
			t.Errorf("found %+v, %v, want it to stay", node, err)
		}
	})
}

func TestANodeWithoutAddressesIsSilent(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.NodeScaler = NewScaler(ScalerConfig{IdleGrace: DefaultIdleGrace})
		w.add("a", api.NodeAvailable, func(n *api.Node) { n.Status.Addresses = nil })
		w.begin()
		w.step(HealthyTimeout + 5*time.Second)
		w.want("nodes", w.state(), "a Terminated")
	})
}

func TestBeatsOfNodesThatAreGoneAreForgotten(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.add("a", api.NodeClaimed)
		if err := w.prepare(); err != nil {
			t.Fatal(err)
		}
		w.beat("a")
		w.beat("gone")
		w.beatOnce()
		if w.lastBeat("a") != 0 || w.lastBeat("gone") >= 0 {
			t.Errorf("found %v, want a alone", w.beats)
		}
	})
}

func TestAHangingAgentIsAskedOnceAtATime(t *testing.T) {
	inFixture(t, func(w *fixture) {
		asked := 0
		w.cloud.onProbe = func(ctx context.Context, _ string) error {
			w.cloud.mu.Lock()
			asked++
			w.cloud.mu.Unlock()
			<-ctx.Done()
			return ctx.Err()
		}
		w.add("a", api.NodeAvailable)
		w.beatOnce()
		w.beatOnce()
		if asked != 1 {
			t.Errorf("asked %d times while the first question is open, want once", asked)
		}
		w.step(w.Config.HeartbeatInterval) // which is how long a question may take
		w.beatOnce()
		if asked != 2 {
			t.Errorf("asked %d times in all, want twice", asked)
		}
	})
}

func TestSilenceWhileClaimedDoesntCount(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.NodeScaler = NewScaler(ScalerConfig{IdleGrace: time.Hour})
		pod := w.wait("p", "A")
		w.add("a", api.NodeAvailable)
		w.begin()
		w.step(6 * time.Second)
		w.NodeDispenser.RequestNode(pod)
		w.pods.Delete("p")
		w.step(5 * time.Minute) // nobody asks it
		w.NodeDispenser.ReturnNode("a", true)
		synctest.Wait()
		w.step(10 * time.Second)
		w.want("nodes", w.state(), "a Available")
	})
}

func TestASilentNodeIsReplaced(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.NodeScaler = NewScaler(ScalerConfig{Standby: []StandbyNodeSpec{{InstanceType: "A", Count: 1}}})
		w.cloud.onProbe = func(_ context.Context, instance string) error {
			if instance == "i-a" {
				return errRefused
			}
			return nil
		}
		w.add("a", api.NodeAvailable)
		w.begin()
		w.step(2 * time.Minute)
		list, err := w.nodes.ListNodes(nil)
		if err != nil || len(list.Items) != 1 || list.Items[0].Name == "a" || list.Items[0].Status.Phase != api.NodeAvailable {
			t.Errorf("found %s, %v, want another node", w.state(), err)
		}
	})
}
