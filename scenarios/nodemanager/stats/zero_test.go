package stats_test

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/stats"
)

// The zero value measures, by the computer's clock unless it is given another one.
func TestZeroValue(t *testing.T) {
	timer := &stats.LoopTimer{}
	timer.StartLoop()
	timer.EndLoop()
	if times := timer.Times(); times.Count != 1 || times.Start.IsZero() || times.End.Before(times.Start) {
		t.Errorf("found %+v, want one turn with a beginning and an end", times)
	}
	began := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	given := &stats.LoopTimer{}
	given.UseClock(clocktesting.NewFakeClock(began))
	given.UseClock(clocktesting.NewFakeClock(began.Add(time.Hour))) // it has one
	given.StartLoop()
	if start := given.Times().Start; !start.Equal(began) {
		t.Errorf("found a turn that began at %s, want %s", start, began)
	}
}
