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
	"github.com/nodesim/nodesim/scenarios/nodemanager/certs"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloudinitfile"
)

// order boots nodes of type A with these names; "+spot" makes it one of the spot market.
func (w *fixture) order(names ...string) {
	w.t.Helper()
	if err := w.prepare(); err != nil {
		w.t.Fatal(err)
	}
	var nodes []*api.Node
	for _, name := range names {
		name, spot := strings.CutSuffix(name, "+spot")
		node := api.NewNode(name)
		node.Spec.InstanceType, node.Spec.Spot = "A", spot
		nodes = append(nodes, node)
	}
	if _, err := w.startNodes(nodes, "image-1"); err != nil {
		w.t.Error(err)
	}
	synctest.Wait()
}

func TestNodesBecomeAvailable(t *testing.T) {
	for want, names := range map[string][]string{
		"a Available":              {"a"},
		"a Available, b Available": {"a", "b"},
		"s Available":              {"s+spot"},
	} {
		inFixture(t, func(w *fixture) {
			w.order(names...)
			w.want("nodes", w.state(), want)
			node, err := w.nodes.GetNode(want[:1])
			if err != nil {
				t.Fatal(err)
			}
			if node.Spec.BootImage != "image-1" || node.Spec.Placement.AvailabilityZone != "zone-1" ||
				!strings.HasPrefix(node.Status.InstanceID, "i-") || len(node.Status.Addresses) != 1 {
				t.Errorf("found %+v, want image, zone, instance and address kept", node)
			}
		})
	}
}

func TestASuccessEndsThePauseOfItsKind(t *testing.T) {
	inFixture(t, func(w *fixture) {
		scaler := NewScaler(ScalerConfig{
			Standby: []StandbyNodeSpec{{InstanceType: "A", Count: 2}}, Backoff: Backoff{First: time.Hour, Max: time.Hour},
		})
		scaler.BootFailed("A", false, epoch)
		w.NodeScaler = scaler
		if _, err := w.poolOnce(); err != nil {
			t.Fatal(err)
		}
		w.want("nodes while the pool pauses", w.state(), "")
		w.order("a")
		if got := w.lastBeat("a"); got != 0 {
			t.Errorf("the last beat of a: found %s ago, want now", got)
		}
		if _, err := w.poolOnce(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(w.state(), "Available"); got != 2 {
			t.Errorf("found %s, want two nodes", w.state())
		}
	})
}

func TestABootIsTold(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.order("a+spot")
		w.want("events", w.events(), "node-created a, node-running a")
		w.want("asked the cloud for", strings.Join(w.cloud.asked, ", "), "A spot")
	})
}

func TestAStartThatFails(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onStart = func(context.Context, *api.Node) error { return errRefused }
		w.order("a")
		w.want("nodes", w.state(), "a Terminated")
		w.want("stops", w.cloud.stopCalls(), "map[]")
	})
}

func TestAnAgentThatNeverAnswers(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onProbe = func(context.Context, string) error { return errRefused }
		w.order("a")
		w.step(59 * time.Second)
		w.want("nodes before the timeout", w.state(), "a Created")
		w.step(time.Second)
		w.want("nodes after it", w.state(), "a Terminated")
		w.want("instances", w.cloud.instances(), "")
	})
}

func TestAnAgentThatHangs(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onProbe = func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
		w.order("a")
		w.step(time.Minute)
		w.want("nodes", w.state(), "a Terminated")
	})
}

func TestAnAgentThatAnswersLate(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.onProbe = func(context.Context, string) error {
			if w.clock.Since(epoch) < 30*time.Second {
				return errRefused
			}
			return nil
		}
		w.order("a")
		w.step(29 * time.Second)
		w.want("nodes at 29 s", w.state(), "a Created")
		w.step(time.Second)
		w.want("nodes at 30 s", w.state(), "a Available")
	})
}

func TestAnInstanceThatNeverRuns(t *testing.T) {
	for name, hook := range map[string]func(context.Context, *api.Node) error{
		"an error": func(context.Context, *api.Node) error { return errRefused },
		"silence":  func(ctx context.Context, _ *api.Node) error { <-ctx.Done(); return ctx.Err() },
	} {
		inFixture(t, func(w *fixture) {
			w.cloud.onRun = hook
			w.order("a")
			w.step(59 * time.Second) // a node that is gone is listed for a minute
			if name == "silence" {
				w.step(time.Second)
			}
			w.want(name+": nodes", w.state(), "a Terminated")
			// It never ran, so nobody is told that it did.
			w.want(name+": events", w.events(), "node-created a, node-purged a")
			w.want(name+": instances", w.cloud.instances(), "")
		})
	}
}

func TestAnInstanceWithoutAnAddress(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.cloud.unnamed = true
		w.order("a")
		w.want("nodes", w.state(), "a Terminated")
		w.want("instances", w.cloud.instances(), "")
	})
}

func TestRefusalsAreMarked(t *testing.T) {
	type answer struct{ sameZone, otherZone, anyZone, otherMarket bool }
	for name, c := range map[string]struct {
		err  error
		node string
		want answer
	}{
		"in a zone":          {&cloud.NoCapacityError{AZ: "z"}, "a+spot", answer{sameZone: true}},
		"anywhere":           {&cloud.NoCapacityError{}, "a+spot", answer{true, true, true, false}},
		"on demand":          {&cloud.NoCapacityError{}, "a", answer{false, false, false, true}},
		"unsupported":        {&cloud.UnsupportedInstanceError{}, "a+spot", answer{true, true, true, false}},
		"for another reason": {errRefused, "a+spot", answer{}},
	} {
		inFixture(t, func(w *fixture) {
			w.cloud.onStart = func(context.Context, *api.Node) error { return errors.Join(errRefused, c.err) }
			w.order(c.node)
			k := w.CloudStatus
			got := answer{
				k.IsUnavailableZone("A", true, false, "z"), k.IsUnavailableZone("A", true, false, "y"),
				k.IsUnavailableZone("A", true, false, ""), k.IsUnavailableZone("A", false, false, "z"),
			}
			if got != c.want {
				t.Errorf("%s: found %+v, want %+v", name, got, c.want)
			}
		})
	}
}

func TestAFullSubnetIsMarked(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.CloudStatus = cloud.NewKeeper(w.clock, cloud.Subnet{ID: "s-1", Zone: "z", Public: true})
		w.cloud.onStart = func(context.Context, *api.Node) error {
			return &cloud.NoCapacityError{SubnetID: "s-1", AZ: "z"}
		}
		w.order("a")
		if !w.CloudStatus.IsUnavailableZone("B", true, false, "") {
			t.Error("another type in a full subnet: found it available, want it unavailable")
		}
	})
}

type brokenIssuer struct{}

func (brokenIssuer) Issue() ([]byte, []byte, error) { return nil, nil, errRefused }

func TestNothingStartsWithoutMetadata(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.CertificateFactory = certs.NewCertificateFactory(brokenIssuer{})
		pod := w.wait("p", "A")
		w.begin()
		w.step(3 * time.Second)
		w.want("nodes", w.state(), "")
		// The pod is told that no node is on its way, not to ask for one that isn't there.
		if reply := w.RequestNodeOf(pod); !reply.NoBinding {
			t.Errorf("found %+v, want NoBinding", reply)
		}
	})
}

func (w *fixture) RequestNodeOf(pod api.Pod) NodeReply { return w.NodeDispenser.RequestNode(pod) }

func TestMetadataReachesTheCloud(t *testing.T) {
	inFixture(t, func(w *fixture) {
		file, err := cloudinitfile.New("{{.ItzoVersion}} from {{.ItzoURL}}")
		if err != nil {
			t.Fatal(err)
		}
		w.CloudInitFile, w.Config.ItzoVersion, w.Config.ItzoURL = file, "v1", "https://example.com"
		w.order("a")
		w.want("asked", strings.Join(w.cloud.asked, ", "), "A v1 from https://example.com")
	})
}

func TestANameThatIsTaken(t *testing.T) {
	inFixture(t, func(w *fixture) {
		w.add("a", api.NodeAvailable)
		if err := w.prepare(); err != nil {
			t.Fatal(err)
		}
		created, err := w.startNodes([]*api.Node{api.NewNode("a"), api.NewNode("b"), api.NewNode("b")}, "")
		if err != nil || len(created) != 1 || !created["b"] {
			t.Errorf("found %v, %v, want b created alone", created, err)
		}
		w.step(time.Second)
		w.want("nodes", w.state(), "a Available, b Available")
		if !slices.ContainsFunc(w.said(), func(s string) bool { return strings.Contains(s, "exists already") }) {
			t.Errorf("found %q, want a report of the name", w.said())
		}
	})
}
