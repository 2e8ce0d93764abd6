package fakeclient

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// A context that has ended stops the tape even where no watch is open.
func TestStepObeysItsContext(t *testing.T) {
	c := client(t, roll())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := c.Player().Status().Number
	for name, err := range map[string]error{"Step": c.Step(ctx), "StepTo": c.StepTo(ctx, replay.End)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := c.Player().Status().Number; after != before {
		t.Errorf("%d events were applied", after-before)
	}
}

// StepTo goes no further than it is asked to, whatever stands between the position and the next event that changes something.
func TestStepToStops(t *testing.T) {
	s := time.Second
	c := client(t, append(start(),
		timeline.Event{At: 30 * s, Type: "REFUSED", Resource: "pods", Namespace: "default", Name: "p", Reason: "Cannot evict pod"},
		timeline.Event{At: 31 * s, Type: timeline.Gap, Resource: "pods"},
		object(90*s, timeline.Modified, "nodes", "a", 61, `{"unschedulable":true}`),
	))
	i := informersOf(c)["typed"]
	var d handlerLog
	if _, err := c.Handle(i, &d); err != nil {
		t.Fatal(err)
	}
	run(t, c, i)
	for _, to := range []time.Duration{45 * s, 90 * s} {
		if err := c.StepTo(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		want := map[time.Duration]string{45 * s: "", 90 * s: "update cordoned a@61"}[to]
		equal(t, to.String(), d.since(2), want)
	}
}

// A list that a GAP begins may have other events in it: what it shows counts once it has ended, and handlers are waited for then.
func TestSettleWaitsForAListInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := time.Second
		f := ForTest(t, replay.Events(header(), append(start(),
			timeline.Event{At: 1 * s, Type: timeline.Gap, Resource: "nodes"},
			object(2*s, timeline.Modified, "nodes", "a", 61, `{"unschedulable":true}`),
			object(2*s, timeline.Added, "pods", "default/q", 62, `{"nodeName":"b"}`),
			timeline.Event{At: 3 * s, Type: timeline.Sync, Resource: "nodes", RV: "70"},
		)))
		told := false
		if _, err := f.Informers.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {
			<-time.After(time.Hour)
			told = true
		}}); err != nil {
			t.Fatal(err)
		}
		f.Informers.Core().V1().Pods().Informer()
		f.Play()
		if !told {
			t.Error("the handler hasn't returned")
		}
	})
}
