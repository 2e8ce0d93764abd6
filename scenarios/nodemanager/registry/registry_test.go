package registry_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
	"github.com/nodesim/nodesim/scenarios/nodemanager/registry"
)

var start = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

func ExampleNodeRegistry_Change() {
	nodes := registry.NewNodeRegistry(clocktesting.NewFakeClock(start), nil)
	if _, err := nodes.CreateNode(api.NewNode("node-1")); err != nil {
		fmt.Println(err)
	}
	_, err := nodes.Change("node-1", func(n *api.Node) error {
		n.Status.Phase = api.NodeClaimed
		return nil
	})
	fmt.Println(err)
	// Output:
	// change node node-1: phase "Claimed" after "Creating": phase can't follow: want one of ["Creating" "Created" "Available" "Terminating" "Terminated"]
}

func fill(t *testing.T, r *registry.NodeRegistry, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := r.CreateNode(api.NewNode(name)); err != nil {
			t.Fatal(err)
		}
	}
}

func names(list *api.NodeList, err error) string {
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, node := range list.Items {
		all = append(all, node.Name)
	}
	return strings.Join(all, " ")
}

func TestNodesAreCopies(t *testing.T) {
	r := registry.NewNodeRegistry(clocktesting.NewFakeClock(start), nil)
	mine := api.NewNode("a")
	created, err := r.CreateNode(mine)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.GetNode("a")
	if err != nil {
		t.Fatal(err)
	}
	mine.Spec.Terminate, created.Spec.Terminate, got.Spec.Terminate = true, true, true
	if again, err := r.GetNode("a"); err != nil || again.Spec.Terminate || !again.CreationTimestamp.Equal(start) {
		t.Errorf("found %+v, %v, want it untouched and dated", again, err)
	}
}

func TestRefusals(t *testing.T) {
	r := registry.NewNodeRegistry(clocktesting.NewFakeClock(start), nil)
	fill(t, r, "a")
	missing := api.NewNode("b")
	_, exists := r.CreateNode(api.NewNode("a"))
	_, get := r.GetNode("b")
	_, status := r.UpdateStatus(missing)
	_, node := r.UpdateNode(missing)
	_, purge := r.PurgeNode(missing)
	own := errors.New("no")
	_, change := r.Change("a", func(n *api.Node) error { n.Spec.Terminate = true; return own })
	claimed := api.NewNode("a")
	claimed.Status.Phase = api.NodeClaimed
	_, phase := r.UpdateStatus(claimed)
	for i, c := range []struct{ got, want error }{
		{exists, registry.ErrExists}, {get, registry.ErrNotFound}, {status, registry.ErrNotFound},
		{node, registry.ErrNotFound}, {purge, registry.ErrNotFound}, {r.MarkForTermination(missing), registry.ErrNotFound},
		{change, own}, {phase, registry.ErrPhase},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("case %d: found %v, want %v", i, c.got, c.want)
		}
	}
	if n, err := r.GetNode("a"); err != nil || n.Spec.Terminate || n.Status.Phase != api.NodeCreating {
		t.Errorf("found %+v, %v, want it untouched", n, err)
	}
}

func TestUpdates(t *testing.T) {
	r := registry.NewNodeRegistry(clocktesting.NewFakeClock(start), nil)
	fill(t, r, "a")
	n := api.NewNode("a")
	n.Spec.Placement.AvailabilityZone, n.Status.InstanceID = "zone", "i-1"
	if got, err := r.UpdateStatus(n); err != nil || got.Spec.Placement.AvailabilityZone != "" || got.Status.InstanceID != "i-1" {
		t.Errorf("UpdateStatus: found %+v, %v, want the status alone", got, err)
	}
	if got, err := r.UpdateNode(n); err != nil || got.Spec.Placement.AvailabilityZone != "zone" {
		t.Errorf("UpdateNode: found %+v, %v, want the zone", got, err)
	}
	if err := r.MarkForTermination(n); err != nil {
		t.Error(err)
	}
	if got, err := r.UpdateNode(n); err != nil || !got.Spec.Terminate {
		t.Errorf("found %+v, %v, want Terminate kept", got, err)
	}
}

func TestPurgedNodesAreListedForAMinute(t *testing.T) {
	c := clocktesting.NewFakeClock(start)
	system := events.NewEventSystem(c)
	var told []string
	system.RegisterHandler("", func(e events.Event) { told = append(told, e.Type+" "+e.Node.Name) })
	r := registry.NewNodeRegistry(c, system)
	fill(t, r, "c", "a", "b")
	got, err := r.PurgeNode(api.NewNode("b"))
	if err != nil || got.Status.Phase != api.NodeTerminated {
		t.Errorf("found %+v, %v, want it Terminated", got, err)
	}
	if !slices.Equal(told, []string{"node-purged b"}) {
		t.Errorf("told %q, want node-purged b", told)
	}
	if got := names(r.ListNodes(nil)); got != "a c" {
		t.Errorf("ListNodes: found %s, want a c", got)
	}
	c.Step(registry.DeletedTTL - 1)
	if got := names(r.ListAllNodes(nil)); got != "a b c" {
		t.Errorf("ListAllNodes within a minute: found %s, want a b c", got)
	}
	if got := names(r.ListAllNodes(func(n *api.Node) bool { return n.Name != "a" })); got != "b c" {
		t.Errorf("ListAllNodes filtered: found %s, want b c", got)
	}
	c.Step(1)
	if got := names(r.ListAllNodes(nil)); got != "a c" {
		t.Errorf("ListAllNodes after a minute: found %s, want a c", got)
	}
}

func TestChangesDontGetLost(t *testing.T) {
	r := registry.NewNodeRegistry(clocktesting.NewFakeClock(start), nil)
	fill(t, r, "a")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				_, err := r.Change("a", func(n *api.Node) error {
					n.Status.Addresses = append(n.Status.Addresses, api.NetworkAddress{})
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n, err := r.GetNode("a"); err != nil || len(n.Status.Addresses) != 800 {
		t.Errorf("found %d changes, %v, want 800", len(n.Status.Addresses), err)
	}
}

func TestPods(t *testing.T) {
	var r registry.PodRegistry
	for _, name := range []string{"b", "a", "c"} {
		r.Put(&api.Pod{ObjectMeta: api.ObjectMeta{Name: name}})
	}
	r.Delete("c")
	list, err := r.ListPods(nil)
	if err != nil || len(list.Items) != 2 || list.Items[0].Name != "a" {
		t.Errorf("found %v, %v, want a and b", list, err)
	}
	list.Items[0].Spec.InstanceType = "spoilt"
	if pod, err := r.GetPod("a"); err != nil || pod.Spec.InstanceType != "" {
		t.Errorf("found %v, %v, want a, untouched", pod, err)
	}
	if _, err := r.GetPod("c"); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("found %v, want %v", err, registry.ErrNotFound)
	}
}

func TestLogs(t *testing.T) {
	var r registry.LogRegistry
	r.CreateLog("a", []byte("boot"))
	if text, ok := r.GetLog("a"); !ok || string(text) != "boot" {
		t.Errorf("found %q, %t, want boot", text, ok)
	}
	r.Delete("a")
	if _, ok := r.GetLog("a"); ok {
		t.Error("after Delete: found a log, want none")
	}
}
