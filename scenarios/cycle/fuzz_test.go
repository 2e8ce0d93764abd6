package cycle_test

import (
	"math"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

// FuzzPlan looks for input on which a planner panics, starts beyond its ceiling, or finds more to do than there is.
func FuzzPlan(f *testing.F) {
	f.Add([]byte("\x00\x10\x21\x32\x43"), 5, 4, 6, 1, 1, 1, int64(60), int64(0), "")
	f.Add([]byte("\x11\x11\x11"), math.MaxInt, 0, math.MaxInt, math.MaxInt, math.MaxInt, 0, int64(math.MaxInt64), int64(math.MinInt64), "abort")
	f.Add([]byte{}, math.MinInt, -1, math.MinInt, math.MinInt, -1, -1, int64(-1), int64(1), "pause")
	states := []cycle.InstanceState{
		cycle.Starting, cycle.Started, cycle.Draining, cycle.Drained, cycle.Terminating, cycle.Terminated, cycle.Unhealthy, "",
	}
	f.Fuzz(func(t *testing.T, list []byte, target, minSize, maxSize, unavailable, surge, budget int, timeout, now int64, mode string) {
		cluster := cycle.Cluster{ID: "c", Config: "1"}
		for n, b := range list {
			cluster.Instances = append(cluster.Instances, cycle.Instance{
				ID: cycle.InstanceID(rune('a' + n%64)), State: states[b%8], Config: cycle.ConfigID(rune('0' + b>>3%3)),
				CreatedAt: time.Unix(int64(b>>4)*now, int64(b)), UpdatedAt: time.Unix(int64(b)*timeout, 0),
			})
		}
		options := cycle.Options{
			Now: time.Unix(now, 0), TargetSize: target, MinSize: minSize, MaxSize: maxSize,
			MaxUnavailable: cycle.AtMost(unavailable), MaxSurge: cycle.AtMost(surge), FailureBudget: cycle.AtMost(budget),
			StartTimeout: time.Duration(timeout), DrainTimeout: time.Duration(timeout), Mode: cycle.Mode(mode),
		}
		d, err := cycle.Plan(cluster, options)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		c := d.Census
		if start, ok := d.Step(cycle.Start, ""); ok && (start.Count > c.Wanted || c.Ceiling >= 0 && start.Count > c.Ceiling-c.Listed) {
			t.Errorf("%v\nstarts too many: %+v", d, c)
		}
		touched := 0
		for _, s := range d.Steps {
			touched += len(s.Targets)
		}
		if touched > c.Listed {
			t.Errorf("%v\ntouches %d of %d", d, touched, c.Listed)
		}
		if d.String() == "" || len(d.Steps) > 6 {
			t.Errorf("%v\nhas %d steps", d, len(d.Steps))
		}
	})
}
