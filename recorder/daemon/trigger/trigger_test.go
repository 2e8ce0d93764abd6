package trigger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// rolls of a tape, with a time after its end in which nothing happens.
func rolls(t *testing.T, src timeline.Source) (ended, open []trigger.Roll) {
	t.Helper()
	s, err := src.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	d := trigger.New(s.Header(), trigger.Options{Quiet: 10 * time.Minute})
	start := s.Header().Metadata.Start.Time
	last := start
	for {
		ev, err := s.Next()
		if err != nil {
			break
		}
		last = start.Add(ev.At)
		d.Apply(last, ev)
	}
	d.Advance(last.Add(time.Hour))
	return d.Ended(), d.Open()
}

func TestRollsOfScenarios(t *testing.T) {
	for name, want := range map[string]trigger.Kind{
		"surge": trigger.Cordon, "karpenter-drift": trigger.Cordon, "stuck-drain": trigger.Cordon, "node-reboot": trigger.NotReady,
	} {
		t.Run(name, func(t *testing.T) {
			ended, open := rolls(t, scenarios.Source(name))
			if all := slices.Concat(ended, open); len(all) != 1 {
				t.Errorf("found %d rolls, want 1: %+v", len(all), all)
			} else {
				t.Log(all[0].Trigger, all[0].Outcome, all[0].Ended.Sub(all[0].Began))
				if all[0].Trigger.Kind != want {
					t.Errorf("began by %s, want %s", all[0].Trigger.Kind, want)
				}
			}
		})
	}
}

// A drain that a budget holds up is seen for as long as it takes: over the cuts of its tape, and after nothing has happened for long.
func TestDrainOutlastsItsTape(t *testing.T) {
	start := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	d := trigger.New(&timeline.Header{Resources: []timeline.Resource{{Version: "v1", Kind: "Node", Resource: "nodes"}}}, trigger.Options{Quiet: 5 * time.Minute, Group: "workers"})
	node := func(at time.Time, kind timeline.Type, name string, cordoned bool) {
		object := fmt.Sprintf(`{"metadata":{"name":%q,"uid":%q},"spec":{"unschedulable":%t},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, name, name, cordoned)
		d.Apply(at, timeline.Event{Type: kind, Resource: "nodes", Name: name, UID: name, Object: []byte(object)})
	}
	node(start, timeline.Added, "old", true) // for maintenance, since before the recording
	node(start, timeline.Added, "a", false)
	d.Apply(start, timeline.Event{Type: timeline.Sync, Resource: "nodes"})
	if drains := d.Drains(start.Add(time.Hour)); len(drains) > 0 {
		t.Errorf("found the drains %v of a node that was cordoned before the recording, want none", drains)
	}
	began := start.Add(time.Hour)
	node(began, timeline.Modified, "a", true)
	cut := func(at time.Time) {
		open := d.Open()
		if len(open) != 1 {
			t.Fatalf("found the rolls %+v on, want one", open)
		}
		name, reason := d.Cut(at, open[0])
		d.Apply(at, timeline.Event{Type: timeline.Mark, Name: name, Reason: reason})
	}
	cut(began.Add(2 * time.Minute)) // the roll goes on
	if open := d.Open(); len(open) != 1 || open[0].Part != 2 || !open[0].Since.Equal(began) {
		t.Errorf("found %+v after a cut, want part 2 of the roll that began at %s", open, began)
	}
	cut(began.Add(6 * time.Hour)) // nothing has happened for long
	if open := d.Open(); len(open) != 0 {
		t.Errorf("found %+v, want no tape of nothing", open)
	}
	if got, want := d.Drains(began.Add(8 * time.Hour))["workers"], 8*time.Hour; got != want {
		t.Errorf("found a drain of %s, want %s", got, want)
	}
	node(began.Add(9*time.Hour), timeline.Modified, "a", false)
	d.Advance(began.Add(10 * time.Hour))
	if drains := d.Drains(began.Add(10 * time.Hour)); len(drains) > 0 {
		t.Errorf("found the drains %v, want none: the node is back", drains)
	}
}
