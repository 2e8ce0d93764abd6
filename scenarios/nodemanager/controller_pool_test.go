package nodemanager

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/certs"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloudinitfile"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
	"github.com/nodesim/nodesim/scenarios/nodemanager/registry"
	"github.com/nodesim/nodesim/scenarios/nodemanager/stats"
	"github.com/nodesim/nodesim/scenarios/nodemanager/timeoutmap"
)

// poolOnce is one turn of the pool loop, without the loop.
func (w *fixture) poolOnce() (map[string]string, error) {
	w.t.Helper()
	if err := w.prepare(); err != nil {
		w.t.Fatal(err)
	}
	bindings, err := w.doPool(w.tasks.Context())
	synctest.Wait()
	return bindings, err
}

// The scaler is that of NewBindingNodeScaler: it has no grace for the wrong node.
func TestAPodGetsANewNodeAndTheWrongOneGoes(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.add("a", api.NodeAvailable)
		w.wait("p", "B")
		bindings, err := w.poolOnce()
		if err != nil {
			t.Fatal(err)
		}
		node, err := w.nodes.GetNode(bindings["p"])
		if err != nil || node.Spec.InstanceType != "B" || node.Status.BoundPodName != "p" {
			t.Errorf("found %+v, %v, want a node of type B for p", node, err)
		}
		if !strings.HasPrefix(w.state(), "a Terminated,") {
			t.Errorf("found %s, want a Terminated", w.state())
		}
	})
}

func TestTheWrongNodeGoesAfterItsGrace(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.NodeScaler = NewScaler(ScalerConfig{IdleGrace: DefaultIdleGrace})
		w.add("a", api.NodeAvailable)
		w.begin()
		w.step(DefaultIdleGrace)
		w.want("within the grace", w.state(), "a Available")
		w.step(4 * time.Second)
		w.want("after it", w.state(), "a Terminated")
	})
}

// The fixtures of the release that the package follows are zero values: each works as if it were missing.
func TestZeroValuesWork(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.PoolLoopTimer, w.ImageIdCache = &stats.LoopTimer{}, &timeoutmap.TimeoutMap{}
		w.CloudInitFile, w.CertificateFactory = &cloudinitfile.File{}, &certs.CertificateFactory{}
		w.nodes, w.Events = &registry.NodeRegistry{}, &events.EventSystem{}
		w.NodeRegistry, w.BootImageSpec = w.nodes, cloud.BootImageSpec{"name": "itzo"}
		w.cloud.onImage = func() (string, error) { return "image-1", nil }
		pod := w.wait("p", "A")
		w.begin()
		w.step(4 * time.Second)
		reply := w.NodeDispenser.RequestNode(pod)
		if reply.Node == nil || reply.Node.Spec.BootImage != "image-1" {
			t.Errorf("found %+v, want a node of image-1; reports %q", reply, w.said())
		}
		if got, want := w.PoolLoopTimer.Times().End, epoch.Add(3*time.Second); !got.Equal(want) {
			t.Errorf("the pool loop was timed at %s, want %s, which is the controller's time", got, want)
		}
		w.step(w.tuning.ImageTTL)
		if left := w.ImageIdCache.Sweep(); left != 1 {
			t.Errorf("found %d cached images, want the one that was resolved again on the controller's time", left)
		}
	})
}

func TestLoopsTogetherGiveANode(t *testing.T) {
	inFixture(t, func(w *fixture) {
		pod := w.wait("p", "A")
		w.begin()
		w.step(4 * time.Second)
		reply := w.NodeDispenser.RequestNode(pod)
		if reply.Node == nil || reply.Node.Status.Phase != api.NodeClaimed || reply.Node.Status.BoundPodName != "p" {
			t.Errorf("found %+v, want a node claimed for p; reports %q", reply, w.said())
		}
	})
}

// algorithm is a ScalingAlgorithm without a plan.
type algorithm func() ([]*api.Node, []*api.Node, map[string]string)

func (f algorithm) Compute([]*api.Node, []*api.Pod) ([]*api.Node, []*api.Node, map[string]string) {
	return f()
}

func TestAnAlgorithmWithoutAPlan(t *testing.T) {
	inFixture(t, func(w *fixture) {
		old, fresh, failing := w.add("old", api.NodeAvailable), api.NewNode("fresh"), api.NewNode("kept")
		w.add("kept", api.NodeClaimed)
		fresh.Status.BoundPodName, failing.Status.BoundPodName = "p", "q"
		w.NodeScaler = algorithm(func() ([]*api.Node, []*api.Node, map[string]string) {
			return []*api.Node{fresh, nil, failing}, []*api.Node{old}, map[string]string{"p": "fresh", "q": "kept"}
		})
		bindings, err := w.poolOnce()
		if err != nil || len(bindings) != 1 || bindings["p"] != "fresh" {
			t.Errorf("found %v, %v, want p on fresh, and nothing of the one that couldn't be created", bindings, err)
		}
		w.want("nodes", w.state(), "fresh Available p, kept Claimed, old Terminated")
	})
}

func TestNoMapIsAnError(t *testing.T) {
	inFixture(t, func(w *fixture) {
		bindings := map[string]string{"p": "a"}
		w.NodeScaler = algorithm(func() ([]*api.Node, []*api.Node, map[string]string) { return nil, nil, bindings })
		w.add("a", api.NodeAvailable)
		w.begin()
		w.step(3 * time.Second)
		bindings = nil
		w.step(3 * time.Second)
		if got := w.said(); len(got) != 1 || !strings.Contains(got[0], "returned no bindings") {
			t.Errorf("found %q, want one report", got)
		}
		if reply := w.NodeDispenser.RequestNode(podNamed("p")); reply.Node == nil {
			t.Errorf("found %+v, want the old bindings to hold", reply)
		}
	})
}

func TestOnlyCreatedNodesAreBound(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.Tuning.MaxBootPerIteration = 3
		w.cloud.onStart = func(ctx context.Context, _ *api.Node) error { <-ctx.Done(); return ctx.Err() }
		for i := range 10 {
			w.wait(fmt.Sprintf("p-%d", i), "A")
		}
		for turn := 1; turn <= 4; turn++ {
			bindings, err := w.poolOnce()
			if err != nil {
				t.Fatal(err)
			}
			if want := min(3*turn, 10); len(bindings) != want {
				t.Errorf("turn %d: found %d bindings, want %d", turn, len(bindings), want)
			}
			for pod, name := range bindings {
				if node, err := w.nodes.GetNode(name); err != nil || node.Status.BoundPodName != pod {
					t.Errorf("turn %d: %s is bound to %s: %+v, %v", turn, pod, name, node, err)
				}
			}
			w.step(time.Second)
		}
	})
}

func TestAPlanDoesntTakeWhatAPodHasTaken(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.add("a", api.NodeAvailable)
		w.add("b", api.NodeAvailable)
		// While the plan is made, one node is claimed that it wants to bind, and one that it wants to stop.
		w.NodeScaler = planner(func(nodes []*api.Node) Changes {
			for _, node := range nodes {
				if _, err := w.nodes.Change(node.Name, func(n *api.Node) error {
					n.Status.Phase, n.Status.BoundPodName = api.NodeClaimed, "other"
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
			bound := nodes[0].DeepCopy()
			bound.Status.BoundPodName = "p"
			return Changes{Update: []*api.Node{bound}, Stop: nodes[1:], Bindings: map[string]string{"p": "a"}}
		})
		bindings, err := w.poolOnce()
		if err != nil || len(bindings) != 0 {
			t.Errorf("found %v, %v, want no binding", bindings, err)
		}
		w.want("nodes", w.state(), "a Claimed other, b Claimed other")
	})
}

type planner func([]*api.Node) Changes

func (f planner) Compute([]*api.Node, []*api.Pod) ([]*api.Node, []*api.Node, map[string]string) {
	return nil, nil, nil
}
func (f planner) Plan(nodes []*api.Node, _ []*api.Pod, _ time.Time) (Changes, error) {
	return f(nodes), nil
}

func TestImages(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.Tuning.BootImage = ""
		w.BootImageSpec = cloud.BootImageSpec{"name": "x"}
		image, err := "", errRefused
		asked := 0
		w.cloud.onImage = func() (string, error) { asked++; return image, err }
		if errPrepare := w.prepare(); errPrepare != nil {
			t.Fatal(errPrepare)
		}
		resolve := func(step string, want string, wantAsked int, wantErr bool) {
			t.Helper()
			got, err := w.resolveImage(context.Background())
			if got != want || asked != wantAsked || (err != nil) != wantErr || wantErr && !errors.Is(err, errRefused) {
				t.Errorf("%s: found %q after %d questions, %v; want %q after %d", step, got, asked, err, want, wantAsked)
			}
		}
		resolve("no image was ever found", "", 1, true)
		image, err = "image-1", nil
		resolve("the first", "image-1", 2, false)
		image = "image-2"
		resolve("cached", "image-1", 2, false)
		w.fake.Step(5 * time.Minute)
		resolve("after five minutes", "image-2", 3, false)
		w.fake.Step(5 * time.Minute)
		image, err = "", errRefused
		resolve("the cloud fails: the old one", "image-2", 4, false)
		image, err = "image-3", nil
		w.BootImageSpec = cloud.BootImageSpec{"name": "y"}
		resolve("another description", "image-3", 5, false)
		if BootImage != "" {
			t.Errorf("the default image became %q", BootImage)
		}
	})
}

func TestStandbyPoolsPauseWhenBootsFail(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.NodeScaler = NewScaler(ScalerConfig{
			Standby: []StandbyNodeSpec{{InstanceType: "A", Count: 1}}, Backoff: Backoff{First: time.Minute, Max: time.Hour},
		})
		w.cloud.onStart = func(context.Context, *api.Node) error { return errRefused }
		w.begin()
		w.step(10 * time.Minute) // at 0, 1, 3 and 7 minutes, each at the next turn of the loop
		if got := len(w.cloud.asked); got != 4 {
			t.Errorf("the cloud was asked %d times, want 4", got)
		}
	})
}

func TestDump(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.begin()
		w.step(3 * time.Second)
		want := `{
    "Start": "2026-11-20T22:00:03Z",
    "End": "2026-11-20T22:00:03Z",
    "LastLoop": 0,
    "Average": 0,
    "Count": 1
}`
		w.want("dump", string(w.Dump()), want)
	})
	if got := string((&NodeController{}).Dump()); !strings.Contains(got, `"Count": 0`) {
		t.Errorf("of a controller without anything: found %s, want a count of 0", got)
	}
}
