package noderoll_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/noderoll"
)

func TestScriptedRepeatsTheLastFrame(t *testing.T) {
	o := noderoll.NewScriptedObserver([]noderoll.Snapshot{snap(view("a", ready)), snap(view("b", ready))})
	var got string
	for range 4 {
		s, err := o.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got += s.Nodes[0].Name
	}
	if got != "abbb" {
		t.Errorf("frames %s, want abbb", got)
	}
}

func TestScriptedAtEndOnlyAfterTheLastFrame(t *testing.T) {
	o := noderoll.NewScriptedObserver([]noderoll.Snapshot{snap(view("a", ready)), snap(view("b", ready))})
	for i, want := range []bool{false, false, true, true} {
		if got := o.AtEnd(); got != want {
			t.Errorf("after %d frames: AtEnd %v, want %v", i, got, want)
		}
		if _, err := o.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestScriptedWithoutFrames(t *testing.T) {
	o := noderoll.NewScriptedObserver(nil)
	s, err := o.Snapshot(t.Context())
	if diff := cmp.Diff(noderoll.Snapshot{}, s); diff != "" || err != nil || !o.AtEnd() {
		t.Errorf("got %+v, %v, AtEnd %v; want the zero Snapshot, at the end", s, err, o.AtEnd())
	}
}

func TestScriptedObeysTheContext(t *testing.T) {
	o := noderoll.NewScriptedObserver([]noderoll.Snapshot{snap(view("a", ready)), snap(view("b", ready))})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the context", err)
	}
	if s, _ := o.Snapshot(t.Context()); s.Nodes[0].Name != "a" {
		t.Errorf("the refused call has consumed a frame: got %s, want a", s.Nodes[0].Name)
	}
}

func TestScriptedSharesNoMemory(t *testing.T) {
	frames := []noderoll.Snapshot{{
		Nodes:    []noderoll.NodeView{{Name: "a", Pressure: []string{"DiskPressure"}}},
		Warnings: []noderoll.WarnEvent{{Node: "a"}},
	}}
	o := noderoll.NewScriptedObserver(frames)
	spoil := func(s noderoll.Snapshot) {
		s.Nodes[0].Name, s.Nodes[0].Pressure[0], s.Warnings[0].Node = "x", "x", "x"
	}
	spoil(frames[0])
	for range 2 {
		s, err := o.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.Nodes[0].Name != "a" || s.Nodes[0].Pressure[0] != "DiskPressure" || s.Warnings[0].Node != "a" {
			t.Fatalf("a caller has written into the script: %+v", s)
		}
		spoil(s)
	}
}

func TestDemoTimelineArrives(t *testing.T) {
	o := noderoll.NewScriptedObserver(noderoll.DemoTimeline())
	for calls := 1; calls < 100; calls++ {
		s, err := o.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.ReadyTarget == 3 && s.Draining == 0 && s.Joining == 0 {
			if calls != 14 || !s.Complete() || !o.AtEnd() {
				t.Errorf("arrived after %d calls, complete %v, at end %v; want the 14th and both", calls, s.Complete(), o.AtEnd())
			}
			return
		}
		if s.Complete() {
			t.Fatalf("complete in frame %d, before the end", calls)
		}
	}
	t.Fatal("the demo never arrives")
}

func TestDemoTimelineTellsARoll(t *testing.T) {
	tr := noderoll.NewTracker()
	for _, s := range noderoll.DemoTimeline() {
		want := s.Clone()
		want.Tally()
		want.Nodes = s.Nodes // in the order of the roll
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("a frame is not counted by the rule (-want +got):\n%s", diff)
		}
		tr.Observe(s)
	}
	const want = "joining ip-10-0-1-44, draining ip-10-0-1-12, online ip-10-0-1-44, terminated ip-10-0-1-12, " +
		"joining ip-10-0-2-77, online ip-10-0-2-77, draining ip-10-0-3-21, terminated ip-10-0-3-21, " +
		"joining ip-10-0-3-05, draining ip-10-0-2-08, online ip-10-0-3-05, terminated ip-10-0-2-08"
	if got := events(tr.Events); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestSnapshotComplete(t *testing.T) {
	on := func(phase noderoll.Phase) noderoll.NodeView {
		v := view("n-"+string(phase), phase)
		v.OnTarget = true
		return v
	}
	for _, tc := range []struct {
		name string
		snap noderoll.Snapshot
		want bool
	}{
		{"all new", snap(on(ready)), true},
		{"empty group", snap(), false},
		{"an old one left", snap(on(ready), view("old", ready)), false},
		{"a new one drains", snap(on(ready), on(draining)), false},
		{"a new one joins", snap(on(ready), on(joining)), false},
		{"a new one fell silent", snap(on(ready), on(notReady)), false},
		// Three nodes at the start, two at the end: ReadyTarget never reaches three.
		{"group was resized", snap(on(ready), on(ready)), true},
	} {
		if got := tc.snap.Complete(); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
