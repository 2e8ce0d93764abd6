package scenarios_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/scenarios"
)

// timely are the invariants about the times that kubelets write. The others are about
// what the plane leaves out, such as taints in time.
var timely = []string{
	"transition-with-status", "conditions-with-node", "heartbeat-after-transition", "heartbeats-forward", "no-future", "pod-starts-once", "created-once",
}

// The times that a live run has written stay as they are, and are those of the wall,
// however long the cluster takes to settle before the scenario begins: a slow machine
// takes its time. Conditions of a new Node aren't older than it is.
func TestLiveTimesStay(t *testing.T) {
	for _, name := range []string{"surge", "spot-loss", "karpenter-drift"} {
		t.Run(name, func(t *testing.T) {
			w, wall := runLive(t, name, smallOf(name)...)
			start, changes := *wall, 0
			check := invariant.NewChecker(invariant.CheckOptions{Start: start, Slack: time.Second})
			w.watcher = func(resource string, e watch.EventType, o metav1.Object) {
				changes++
				for _, v := range check.Observe(invariant.Change{
					At: wall.Sub(start), Line: changes, Type: invariant.ChangeType(e), Resource: resource, Version: o.GetResourceVersion(), Object: o,
				}) {
					if slices.Contains(timely, v.Invariant) {
						t.Error(v)
					}
				}
			}
			w.create(w.p.Objects())
			w.p.Seed()
			for range 3 {
				*wall = wall.Add(2700 * time.Millisecond)
				w.settle()
			}
			*wall = wall.Add(1300 * time.Millisecond)
			if missing := w.p.Unsettled(); len(missing) > 0 {
				t.Fatalf("at 0s: %v", missing)
			}
			if err := w.p.Begin(); err != nil {
				t.Fatal(err)
			}
			play(t, w, wall, func() bool { return false })
			if changes < 100 {
				t.Errorf("%d changes were checked, want hundreds", changes)
			}
		})
	}
}

func smallOf(name string) []scenarios.Setting {
	if name == "surge" {
		return small
	}
	return nil
}
