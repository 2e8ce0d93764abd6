package trigger_test

import (
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
