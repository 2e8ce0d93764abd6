package nodemanager

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// dispatching runs a dispatch loop that knows some bindings, and nothing else of the controller.
func (w *fixture) dispatching(bindings map[string]string) {
	w.t.Helper()
	if err := w.prepare(); err != nil {
		w.t.Fatal(err)
	}
	w.tasks.Run(w.dispatch)
	if bindings != nil {
		w.bindings <- bindings
	}
	synctest.Wait()
}

func podNamed(name string) api.Pod { return api.Pod{ObjectMeta: api.ObjectMeta{Name: name}} }

func TestRequests(t *testing.T) {
	for name, c := range map[string]struct {
		bindings  map[string]string
		node      *api.Node // of what is in the registry, changed
		phase     api.NodePhase
		claimed   bool
		noBinding bool
	}{
		"an empty map":            {bindings: map[string]string{}, phase: api.NodeAvailable, noBinding: true},
		"a claimed node":          {bindings: map[string]string{"p": "a"}, phase: api.NodeClaimed},
		"an available node":       {bindings: map[string]string{"p": "a"}, phase: api.NodeAvailable, claimed: true},
		"a node that isn't there": {bindings: map[string]string{"p": "b"}, phase: api.NodeAvailable},
		"a node in Creating":      {bindings: map[string]string{"p": "a"}, phase: api.NodeCreating},
		"a node in Terminating":   {bindings: map[string]string{"p": "a"}, phase: api.NodeTerminating},
		"the binding of another":  {bindings: map[string]string{"q": "a"}, phase: api.NodeAvailable, noBinding: true},
	} {
		inFixture(t, func(w *fixture) {
			w.add("a", c.phase)
			w.dispatching(c.bindings)
			reply := w.NodeDispenser.RequestNode(podNamed("p"))
			if reply.NoBinding != c.noBinding || (reply.Node != nil) != c.claimed {
				t.Fatalf("%s: found %+v, want node %t, no binding %t", name, reply, c.claimed, c.noBinding)
			}
			if c.claimed {
				if reply.Node.Status.Phase != api.NodeClaimed {
					t.Errorf("%s: found %+v, want it Claimed", name, reply.Node)
				}
				w.want(name, w.state(), "a Claimed p")
			}
		})
	}
}

func TestANodeOfAnotherPodOrOneThatHasToGoIsntGiven(t *testing.T) {
	for name, change := range map[string]func(*api.Node){
		"rebound since the map was made": func(n *api.Node) { n.Status.BoundPodName = "q" },
		"has to go":                      func(n *api.Node) { n.Spec.Terminate = true },
	} {
		inFixture(t, func(w *fixture) {
			w.add("a", api.NodeAvailable, change)
			w.dispatching(map[string]string{"p": "a"})
			if reply := w.NodeDispenser.RequestNode(podNamed("p")); reply.Node != nil || reply.NoBinding {
				t.Errorf("%s: found %+v, want an empty reply", name, reply)
			}
		})
	}
}

func TestAnUnusedNodeIsAvailableAgain(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.add("a", api.NodeAvailable)
		w.dispatching(map[string]string{"p": "a"})
		w.NodeDispenser.RequestNode(podNamed("p"))
		w.want("claimed", w.state(), "a Claimed p")
		w.NodeDispenser.ReturnNode("a", true)
		synctest.Wait()
		w.want("returned", w.state(), "a Available")
		w.want("instances", w.cloud.instances(), "i-a of a")
		// And again to the pod, whose binding still stands.
		if reply := w.NodeDispenser.RequestNode(podNamed("p")); reply.Node == nil {
			t.Errorf("found %+v, want the node", reply)
		}
	})
}

func TestAUsedNodeIsCleanedAndStopped(t *testing.T) {
	for name, c := range map[string]struct {
		onFile func(string) ([]byte, error)
		log    string
	}{
		"with a log":    {nil, "last 4096 bytes of /var/log/itzo/itzo.log of i-a"},
		"with too long": {func(string) ([]byte, error) { return slices.Repeat([]byte("x"), 5000), nil }, strings.Repeat("x", 4096)},
		"without":       {func(string) ([]byte, error) { return nil, errRefused }, ""},
	} {
		inFixture(t, func(w *fixture) {
			w.cloud.onFile = c.onFile
			w.add("a", api.NodeClaimed, func(n *api.Node) { n.Status.BoundPodName = "p" })
			w.dispatching(nil) // returns don't wait for a plan
			w.NodeDispenser.ReturnNode("a", false)
			synctest.Wait()
			w.want(name+": nodes", w.state(), "a Terminated")
			w.want(name+": events", w.events(), "node-cleaning a p, node-purged a")
			text, _ := w.LogRegistry.GetLog("a")
			w.want(name+": log", string(text), c.log)
			if _, err := w.nodes.GetNode("a"); err == nil {
				t.Errorf("%s: the node is still there", name)
			}
		})
	}
}

func TestReturnsThatMakeNoSense(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.add("a", api.NodeAvailable)
		w.dispatching(nil)
		w.NodeDispenser.ReturnNode("", false)
		w.NodeDispenser.ReturnNode("b", false)
		w.NodeDispenser.ReturnNode("b", true)
		w.NodeDispenser.ReturnNode("a", false)
		w.NodeDispenser.ReturnNode("a", true)
		synctest.Wait()
		w.want("nodes", w.state(), "a Available")
		if got := len(w.said()); got != 4 {
			t.Errorf("found %d reports, want 4: %q", got, w.said())
		}
	})
}

func TestWhoeverLeavesDoesntKeepTheNode(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.add("a", api.NodeAvailable)
		if err := w.prepare(); err != nil {
			t.Fatal(err)
		}
		r := NodeRequest{requestingPod: podNamed("p"), ReplyChan: make(chan NodeReply), gone: make(chan struct{})}
		close(r.gone)
		w.answer(context.Background(), r, map[string]string{"p": "a"})
		w.want("nodes", w.state(), "a Available")
		r.ReplyChan = nil
		w.answer(context.Background(), r, map[string]string{"p": "a"})
		w.want("nodes", w.state(), "a Available")
	})
}

func TestARequestWaitsForTheFirstPlanOrItsContext(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.dispatching(nil)
		ctx, cancel := context.WithCancel(context.Background())
		answers := make(chan error, 1)
		go func() {
			_, err := w.NodeDispenser.RequestNodeContext(ctx, podNamed("p"))
			answers <- err
		}()
		synctest.Wait()
		select {
		case err := <-answers:
			t.Fatalf("before the first plan: found %v, want it to wait", err)
		default:
		}
		cancel()
		if err := <-answers; !errors.Is(err, context.Canceled) {
			t.Errorf("found %v, want %v", err, context.Canceled)
		}
		w.bindings <- map[string]string{}
		if reply := w.NodeDispenser.RequestNode(podNamed("p")); !reply.NoBinding {
			t.Errorf("after the first plan: found %+v, want NoBinding", reply)
		}
	})
}

func TestARequestThatWasReadIsFreedToo(t *testing.T) {
	inFixture(t, func(w *fixture) {
		e := NewNodeDispenser()
		answers := make(chan error, 1)
		go func() {
			_, err := e.RequestNodeContext(context.Background(), podNamed("p"))
			answers <- err
		}()
		r := <-e.NodeRequestChan
		e.end()
		if err := <-answers; !errors.Is(err, ErrNoDispenser) {
			t.Errorf("found %v, want %v", err, ErrNoDispenser)
		}
		<-r.gone
	})
}

func TestADispenserWithoutAController(t *testing.T) {
	e := &NodeDispenser{}
	if reply := e.RequestNode(podNamed("p")); reply.Node != nil || reply.NoBinding {
		t.Errorf("found %+v, want an empty reply", reply)
	}
	e.ReturnNode("a", true)
	if err := e.ReturnNodeContext(context.Background(), "a", true); !errors.Is(err, ErrNoDispenser) {
		t.Errorf("found %v, want %v", err, ErrNoDispenser)
	}
	e.end()

	e = NewNodeDispenser()
	if cap(e.NodeRequestChan) != 0 || cap(e.NodeReturnChan) != 1 {
		t.Errorf("found capacities %d and %d, want 0 and 1", cap(e.NodeRequestChan), cap(e.NodeReturnChan))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := e.RequestNodeContext(ctx, podNamed("p")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("found %v, want %v", err, context.DeadlineExceeded)
	}
	e.ReturnNode("a", true) // fills the channel
	if err := e.ReturnNodeContext(ctx, "b", true); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("found %v, want %v", err, context.DeadlineExceeded)
	}
	e.end()
	if err := e.ReturnNodeContext(context.Background(), "b", true); !errors.Is(err, ErrNoDispenser) {
		t.Errorf("found %v, want %v", err, ErrNoDispenser)
	}
}

// A dispenser that was made by hand answers, too, when the controller has ended.
func TestHandMadeDispenserEnds(t *testing.T) {
	e := &NodeDispenser{NodeRequestChan: make(chan NodeRequest), NodeReturnChan: make(chan NodeReturn)}
	answers := make(chan error, 2)
	go func() {
		_, err := e.RequestNodeContext(t.Context(), api.Pod{})
		answers <- err
	}()
	go func() { answers <- e.ReturnNodeContext(t.Context(), "n", false) }()
	e.end()
	for range 2 {
		if err := <-answers; !errors.Is(err, ErrNoDispenser) {
			t.Errorf("found %v, want ErrNoDispenser", err)
		}
	}
}
