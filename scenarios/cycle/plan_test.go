package cycle_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

// A decision as text is the whole story; each of these is one rule of the package comment.
func TestDecisions(t *testing.T) {
	five := cycle.Options{TargetSize: 5, MinSize: 5, MaxSize: 10}
	with := func(change func(*cycle.Options)) cycle.Options {
		o := five
		change(&o)
		return o
	}
	never := func(cycle.InstanceID) bool { return false }
	surged := append(of(2, cycle.Started, "config-0"), of(5, cycle.Started, "config-1")...)
	for _, test := range []struct {
		name      string
		instances []cycle.Instance
		options   cycle.Options
		want      string
	}{
		{"done", of(5, cycle.Started, "config-1"), five, "finished: 5 listed, 5 serving, 0 outdated"},
		{
			"surge is bounded by what is needed", of(2, cycle.Started, "config-0"),
			cycle.Options{TargetSize: 2, MinSize: 2, MaxSize: 100},
			"working: 2 listed, 2 serving, 2 outdated\n  start 2 (outdated)\n" +
				"  held: floor holds back 2: 2 serve, at least 2 must",
		},
		{
			"surge is bounded by its limit", of(3, cycle.Started, "config-0"),
			cycle.Options{TargetSize: 3, MaxUnavailable: cycle.AtMost(0), MaxSurge: cycle.AtMost(1)},
			"working: 3 listed, 3 serving, 3 outdated\n  start 1 (outdated)\n" +
				"  held: ceiling holds back 2: 3 listed of at most 4\n" +
				"  held: floor holds back 3: 3 serve, at least 3 must",
		},
		{
			"starts and drains in one plan", of(4, cycle.Started, "config-0"),
			cycle.Options{TargetSize: 4, MaxUnavailable: cycle.AtMost(1), MaxSurge: cycle.AtMost(2)},
			"working: 4 listed, 4 serving, 4 outdated\n  start 2 (outdated)\n  drain i-00 (outdated)\n" +
				"  held: ceiling holds back 2: 4 listed of at most 6\n" +
				"  held: floor holds back 3: 4 serve, at least 3 must",
		},
		{
			"an outdated instance that never served is not awaited",
			[]cycle.Instance{old(cycle.Starting), old(cycle.Unhealthy), current(cycle.Started)},
			cycle.Options{TargetSize: 1, MinSize: 1, MaxSize: 3},
			"working: 3 listed, 1 serving, 2 outdated\n  terminate i-00 (never-served), i-01 (unhealthy)",
		},
		{
			"every state at once, in the fixed order",
			[]cycle.Instance{
				current(cycle.Terminating), current(cycle.Drained), current(cycle.Draining), current(cycle.Starting),
				old(cycle.Started), current(cycle.Terminated), current(cycle.Started),
			},
			cycle.Options{TargetSize: 3, MinSize: 1, MaxSize: 10},
			"working: 6 listed, 2 serving, 1 outdated\n  start 1 (outdated)\n  wait until started: i-03 (starting)\n" +
				"  drain i-04 (outdated)\n  terminate i-01 (drained)\n  wait until drained: i-02 (draining)\n" +
				"  wait until terminated: i-00 (terminating)",
		},
		{
			"drains go at most so many at a time", surged, with(func(o *cycle.Options) { o.MaxDraining = cycle.AtMost(1) }),
			"working: 7 listed, 7 serving, 2 outdated\n  drain i-00 (outdated)\n" +
				"  held: max-draining holds back 1: 1 may drain at once",
		},
		{
			"what may not be drained is passed by, with its reason", surged, with(func(o *cycle.Options) {
				o.MayDrain = func(id cycle.InstanceID) (bool, string) { return id != "i-00", "budget web allows no disruption" }
			}),
			"working: 7 listed, 7 serving, 2 outdated\n  drain i-01 (outdated)\n" +
				"  held: i-00 refused: budget web allows no disruption",
		},
		{
			"refused alone is stuck", surged, with(func(o *cycle.Options) {
				o.MayDrain = func(cycle.InstanceID) (bool, string) { return false, "no" }
			}),
			"stuck: 7 listed, 7 serving, 2 outdated\n  held: i-00 refused: no\n  held: i-01 refused: no",
		},
		{
			"a drain that is refused leaves its place to others", surged, with(func(o *cycle.Options) {
				o.MaxDraining = cycle.AtMost(1)
				o.MayDrain = func(cycle.InstanceID) (bool, string) { return false, "no" }
			}),
			"stuck: 7 listed, 7 serving, 2 outdated\n  held: i-00 refused: no\n  held: i-01 refused: no",
		},
		{
			"replacements that aren't ready replace nothing", surged, with(func(o *cycle.Options) {
				o.Ready = func(id cycle.InstanceID) bool { return id < "i-06" }
			}),
			"working: 7 listed, 6 serving, 2 outdated\n  drain i-00 (outdated)\n  held: i-06 not-ready\n" +
				"  held: floor holds back 1: 6 serve, at least 5 must",
		},
		{
			"what doesn't serve goes first and costs nothing", surged[:4],
			cycle.Options{TargetSize: 3, MinSize: 3, MaxSize: 4, Ready: func(id cycle.InstanceID) bool { return id != "i-01" }},
			"working: 4 listed, 3 serving, 2 outdated\n  drain i-01 (outdated)\n" +
				"  held: ceiling holds back 1: 4 listed of at most 4\n" +
				"  held: floor holds back 1: 3 serve, at least 3 must",
		},
		{
			"no one ready, and no timeout", of(1, cycle.Started, "config-1"),
			cycle.Options{TargetSize: 1, MaxSize: 2, Ready: never},
			"stuck: 1 listed, 0 serving, 0 outdated\n  held: i-00 not-ready",
		},
		{
			"no one ready for too long", of(1, cycle.Started, "config-1"),
			cycle.Options{TargetSize: 1, MaxSize: 2, Ready: never, Now: noon, StartTimeout: time.Hour},
			"working: 1 listed, 0 serving, 0 outdated\n  start 1 (scale-up)\n  terminate i-00 (ready-timeout)",
		},
		{
			"a surplus goes by age, what isn't up yet before it",
			append(of(4, cycle.Started, "config-1"), of(2, cycle.Starting, "config-1")...),
			cycle.Options{TargetSize: 2, MinSize: 1, MaxSize: 6},
			"working: 6 listed, 4 serving, 0 outdated\n  drain i-00 (surplus), i-01 (surplus)\n" +
				"  terminate i-04 (never-served), i-05 (never-served)",
		},
		{
			"of those that aren't up yet, the youngest are given up",
			append(of(2, cycle.Started, "config-1"), of(3, cycle.Starting, "config-1")...),
			cycle.Options{TargetSize: 3, MaxSize: 6},
			"working: 5 listed, 2 serving, 0 outdated\n  wait until started: i-02 (starting)\n" +
				"  terminate i-03 (never-served), i-04 (never-served)",
		},
		{
			"a pause ends what had begun",
			[]cycle.Instance{old(cycle.Started), old(cycle.Draining), old(cycle.Drained), old(cycle.Unhealthy)},
			cycle.Options{TargetSize: 3, MaxSize: 9, Mode: cycle.Pause},
			"paused: 4 listed, 1 serving, 4 outdated\n  terminate i-02 (drained)\n  wait until drained: i-01 (draining)\n" +
				"  held: i-03 kept: unhealthy\n  held: pause: as asked",
		},
		{
			"an abort removes what is too much, the new ones first", append(of(2, cycle.Started, "config-0"),
				current(cycle.Starting), current(cycle.Started), current(cycle.Started)),
			cycle.Options{TargetSize: 3, MinSize: 3, MaxSize: 9, Mode: cycle.Abort},
			"aborted: 5 listed, 4 serving, 2 outdated\n  drain i-03 (surplus)\n  terminate i-02 (never-served)\n" +
				"  held: abort: as asked",
		},
		{
			"an abort starts nothing", of(2, cycle.Started, "config-0"),
			cycle.Options{TargetSize: 3, MaxSize: 9, Mode: cycle.Abort},
			"aborted: 2 listed, 2 serving, 2 outdated\n  held: abort: as asked",
		},
		{
			"failures pause the roll", append(of(3, cycle.Started, "config-0"), current(cycle.Unhealthy)),
			cycle.Options{TargetSize: 3, MinSize: 2, MaxSize: 5, FailureBudget: cycle.AtMost(1), Failures: []cycle.InstanceID{"i-99"}},
			"paused: 4 listed, 3 serving, 3 outdated\n  terminate i-03 (unhealthy)\n" +
				"  held: failure-budget: 2 failed, 1 may",
		},
		{
			"a failure within the budget is replaced", append(of(3, cycle.Started, "config-0"), current(cycle.Starting)),
			cycle.Options{
				TargetSize: 3, MinSize: 3, MaxSize: 5, FailureBudget: cycle.AtMost(1), Now: noon, StartTimeout: time.Minute,
			},
			"working: 4 listed, 3 serving, 3 outdated\n  start 1 (outdated)\n  terminate i-03 (start-timeout)\n" +
				"  held: ceiling holds back 2: 4 listed of at most 5\n" +
				"  held: floor holds back 3: 3 serve, at least 3 must",
		},
		{
			"a drain stamped in the future times out late",
			[]cycle.Instance{{State: cycle.Draining, Config: "config-1", UpdatedAt: noon.Add(time.Hour)}},
			cycle.Options{Now: noon, DrainTimeout: time.Minute},
			"working: 1 listed, 0 serving, 0 outdated\n  wait until drained: i-00 (draining)\n" +
				"  held: i-00 clock-skew: stamped 1h0m0s after the present",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			cluster := group(append([]cycle.Instance(nil), test.instances...)...)
			d := mustPlan(t, cluster, test.options)
			if diff := cmp.Diff(test.want, d.String()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Drains go by rank, then what a roll that was cut short left behind, then age, then id.
func TestDrainOrder(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	cluster := group(
		cycle.Instance{ID: "base-young", State: cycle.Started, Config: "config-0", CreatedAt: at(2)},
		cycle.Instance{ID: "base-b", State: cycle.Started, Config: "config-0", CreatedAt: at(1)},
		cycle.Instance{ID: "base-a", State: cycle.Started, Config: "config-0", CreatedAt: at(1)},
		cycle.Instance{ID: "between", State: cycle.Started, Config: "config-0.5", CreatedAt: at(3)},
	)
	options := cycle.Options{TargetSize: 4, MaxSize: 8}
	order := func() []cycle.InstanceID {
		drain, _ := mustPlan(t, cluster, options).Step(cycle.Drain, "")
		return drain.IDs()
	}
	if diff := cmp.Diff([]cycle.InstanceID{"between", "base-a", "base-b", "base-young"}, order()); diff != "" {
		t.Errorf("by the config of the oldest: -want +got\n%s", diff)
	}
	options.From = "config-0.5"
	if diff := cmp.Diff([]cycle.InstanceID{"base-a", "base-b", "base-young", "between"}, order()); diff != "" {
		t.Errorf("by From: -want +got\n%s", diff)
	}
	options.Rank = func(id cycle.InstanceID) int {
		if id == "base-young" {
			return -1
		}
		return 0
	}
	if diff := cmp.Diff([]cycle.InstanceID{"base-young", "base-a", "base-b", "between"}, order()); diff != "" {
		t.Errorf("by Rank: -want +got\n%s", diff)
	}
}

// MayDrain is asked once for each instance, in the order of the drains, and no more often than drains are possible.
func TestMayDrainCanCount(t *testing.T) {
	var asked []cycle.InstanceID
	zones := map[cycle.InstanceID]string{"i-00": "a", "i-01": "a", "i-02": "b", "i-03": "b"}
	allowed := map[string]int{}
	d := mustPlan(t, group(of(6, cycle.Started, "config-0")...), cycle.Options{
		TargetSize: 6, MaxSize: 12, MaxUnavailable: cycle.AtMost(3),
		MayDrain: func(id cycle.InstanceID) (bool, string) {
			asked = append(asked, id)
			if zone := zones[id]; zone != "" && allowed[zone] > 0 {
				return false, "one of zone " + zone + " drains already"
			}
			allowed[zones[id]]++
			return true, ""
		},
	})
	drain, _ := d.Step(cycle.Drain, "")
	if diff := cmp.Diff([]cycle.InstanceID{"i-00", "i-02", "i-04"}, drain.IDs()); diff != "" {
		t.Errorf("drains: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]cycle.InstanceID{"i-00", "i-01", "i-02", "i-03", "i-04"}, asked); diff != "" {
		t.Errorf("asked: -want +got\n%s", diff)
	}
}

// Again is when to look, though nothing happens.
func TestAgain(t *testing.T) {
	cluster := group(current(cycle.Starting), current(cycle.Starting), current(cycle.Started))
	d := mustPlan(t, cluster, cycle.Options{TargetSize: 3, MaxSize: 4, Now: noon, StartTimeout: 61 * time.Minute})
	if want := noon.Add(time.Minute); !d.Again.Equal(want) {
		t.Fatalf("again at %v, want %v", d.Again, want)
	}
	d = mustPlan(t, cluster, cycle.Options{TargetSize: 3, MaxSize: 4, Now: d.Again, StartTimeout: 61 * time.Minute})
	if _, ok := d.Step(cycle.Terminate, ""); !ok || len(d.Failures) != 1 || d.Failures[0] != "i-00" {
		t.Errorf("at that time:\n%v\nfailures %v, want i-00 terminated as failed", d, d.Failures)
	}
}

func TestPlanRefuses(t *testing.T) {
	for _, test := range []struct {
		options cycle.Options
		want    string
	}{
		{cycle.Options{MaxSurge: cycle.AtMost(-1)}, "plan: MaxSurge is -1: want 0 or more"},
		{cycle.Options{MaxUnavailable: cycle.AtMost(-2)}, "plan: MaxUnavailable is -2: want 0 or more"},
		{cycle.Options{StartTimeout: -time.Second}, "plan: StartTimeout is -1s: want 0 or more; 0 waits for ever"},
		{cycle.Options{StartTimeout: time.Second}, "plan: Now is zero: want the present time, since StartTimeout is 1s"},
		{cycle.Options{Mode: "stop"}, `plan: Mode is stop: want "" (Roll), "pause" or "abort"`},
		{
			cycle.Options{TargetSize: 2, MaxSurge: cycle.AtMost(0), MaxUnavailable: cycle.AtMost(0)},
			`plan cluster "c-1": 2 outdated to replace, but at least 2 must serve and at most 2 may be listed: ` +
				"want a lower MinSize (or more MaxUnavailable), or a higher MaxSize (or more MaxSurge)",
		},
	} {
		d, err := cycle.Plan(group(of(2, cycle.Started, "config-0")...), test.options)
		if err == nil || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
		if !d.Equal(cycle.Decision{}) {
			t.Errorf("%s: got a decision with it: %v", test.want, d)
		}
	}
}

func TestPlanRefusesInstancesThatItCouldConfuse(t *testing.T) {
	twice := group(current(cycle.Started), current(cycle.Started))
	twice.Instances[1] = twice.Instances[0]
	if d := mustPlan(t, twice, cycle.Options{TargetSize: 1}); d.Progress != cycle.Finished || d.Census.Listed != 1 {
		t.Errorf("the same line twice:\n%v\nwant one instance, finished", d)
	}
	twice.Instances[1].State = cycle.Drained
	_, err := cycle.Plan(twice, cycle.Options{TargetSize: 1})
	var confused *cycle.InstanceError
	if !errors.As(err, &confused) || confused.ID != "i-00" || confused.Index != 1 {
		t.Errorf("one id with two states: got %v, want an InstanceError for i-00", err)
	}
	unnamed := group(current(cycle.Started))
	unnamed.Instances[0].ID = ""
	if _, err := cycle.Plan(unnamed, cycle.Options{}); !errors.As(err, &confused) {
		t.Errorf("no id: got %v, want an InstanceError", err)
	}
}

// A decision that was recorded is the one that was made, and its steps do the same.
func TestDecisionsCanBeRecorded(t *testing.T) {
	cluster := group(append(of(3, cycle.Started, "config-0"), current(cycle.Unhealthy), current(cycle.Starting))...)
	made := mustPlan(t, cluster, cycle.Options{
		TargetSize: 3, MaxUnavailable: cycle.AtMost(1), MaxSurge: cycle.AtMost(3), Now: noon, StartTimeout: 2 * time.Hour,
	})
	if len(made.Steps) != 4 || len(made.Failures) != 1 || made.Again.IsZero() || len(made.Blockers) == 0 {
		t.Fatalf("the decision doesn't show every field: %+v", made)
	}
	text, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	var read cycle.Decision
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if !read.Equal(made) || read.String() != made.String() {
		t.Errorf("read\n%v\nwrote\n%v", read, made)
	}
	first, second := newMemory(cluster), newMemory(cluster)
	if err := errors.Join(cycle.Run(t.Context(), first, made.Tasks()...), cycle.Run(t.Context(), second, read.Tasks()...)); err != nil {
		t.Fatal(err)
	}
	a, errA := first.DescribeCluster(t.Context(), "c-1")
	b, errB := second.DescribeCluster(t.Context(), "c-1")
	times := cmpopts.IgnoreFields(cycle.Instance{}, "UpdatedAt") // drain and terminate run side by side
	if diff := cmp.Diff(a, b, times); errA != nil || errB != nil || diff != "" {
		t.Errorf("%v, %v, -made +read\n%s", errA, errB, diff)
	}
}
