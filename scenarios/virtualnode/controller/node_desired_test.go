package controller

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Neither the given node nor what the provider pushes is changed, or read later.
func TestObjectsStayTheirOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		given := readyNode()
		before := given.DeepCopy()
		c := f.controller(t, given, f.leases(), WithNodeSpecReconciliation())
		running(t.Context(), t, c)
		pushed := readyNode()
		kept := pushed.DeepCopy()
		f.say(t, pushed)
		pass(2 * time.Minute)
		if d := cmp.Diff(before, given); d != "" {
			t.Errorf("the given node has changed:\n%s", d)
		}
		if d := cmp.Diff(kept, pushed); d != "" {
			t.Errorf("the pushed node has changed:\n%s", d)
		}
		pushed.Labels["zone"], pushed.Status.Conditions[0].Status = "spoilt", corev1.ConditionFalse
		given.Spec.Taints[0].Key = "spoilt"
		pass(2 * time.Minute)
		if got := f.node(); got.Labels["zone"] != "a" || got.Status.Conditions[0].Status != corev1.ConditionTrue || got.Spec.Taints[0].Key != "own" {
			t.Errorf("found %+v, want no trace of what the provider did to its objects later", got)
		}
	})
}

// A node as a server gave it can be given: what only servers give is left out.
func TestGivenFromAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		given := readyNode()
		given.UID, given.ResourceVersion, given.CreationTimestamp = "old", "77", metav1.Now()
		given.Annotations = map[string]string{annotationStatus: "{", annotationMeta: "{", annotationTaints: "{"}
		running(t.Context(), t, f.controller(t, given, WithNodeSpecReconciliation()))
		pass(time.Minute)
		if got := f.node(); got == nil || got.UID == "old" {
			t.Errorf("found %+v, want a new node", got)
		}
	})
}

// The callback never blocks, the last call counts, and after the end it does nothing.
func TestCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		c := f.controller(t, readyNode())
		stop := running(t.Context(), t, c)
		f.NaiveNodeProviderV2.notify(nil)
		var many sync.WaitGroup
		for range 100 {
			many.Go(func() { f.NaiveNodeProviderV2.notify(readyNode()) })
		}
		many.Wait()
		last := readyNode()
		last.Labels["zone"] = "last"
		f.forget()
		f.say(t, last)
		if got := f.node().Labels["zone"]; got != "last" {
			t.Errorf("found zone %s, want the last one pushed", got)
		}
		if got := f.requests(patches); got > 3 {
			t.Errorf("found %d updates for a hundred pushes at one moment, want few", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		late := readyNode()
		late.Labels["zone"] = "late"
		f.say(t, late)
		if c.desired().node.Labels["zone"] == "late" {
			t.Error("the callback did something after the end")
		}
	})
}

// UpdateStatus waits for a controller, and no longer than its context lets it.
func TestNaiveProviderWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, p := range map[string]*NaiveNodeProviderV2{"made": NewNaiveNodeProvider(), "zero": {}} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := p.UpdateStatus(ctx, node("virtual")); err == nil || p.Ping(ctx) == nil {
				t.Errorf("%s: without a controller: %v, want the error of the context", name, err)
			}
			cancel()
			heard := make(chan *corev1.Node, 1)
			p.NotifyNodeStatus(t.Context(), func(*corev1.Node) { t.Error("the first callback was called after the second was registered") })
			p.NotifyNodeStatus(t.Context(), func(n *corev1.Node) { heard <- n })
			if err := p.UpdateStatus(t.Context(), node("virtual")); err != nil || (<-heard).Name != "virtual" || p.Ping(t.Context()) != nil {
				t.Errorf("%s: with a controller: %v", name, err)
			}
		}
		NaiveNodeProvider{}.NotifyNodeStatus(t.Context(), nil)
		if err := (NaiveNodeProvider{}).Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
