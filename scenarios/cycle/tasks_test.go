package cycle_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

// phase is a step in two words.
func phase(s cycle.Step) string {
	if s.Kind == cycle.Wait {
		return fmt.Sprintf("wait %s", s.Await)
	}
	return fmt.Sprintf("%s %d", s.Kind, s.Count)
}

func TestTasksRefuse(t *testing.T) {
	for _, test := range []struct {
		config cycle.TaskConfig
		want   string
	}{
		{cycle.TaskConfig{TargetSize: -1, MinSize: -2, MaxSize: -3}, "plan: TargetSize is -1: want 0 or more"},
		{cycle.TaskConfig{MinSize: -2, MaxSize: -3}, "plan: MinSize is -2: want 0 or more"},
		{cycle.TaskConfig{MaxSize: -3, DrainTimeout: -1}, "plan: MaxSize is -3: want 0 or more"},
		{cycle.TaskConfig{MaxSize: 1, DrainTimeout: -1}, "plan: DrainTimeout is -1ns: want 0 or more; 0 waits for ever"},
		{cycle.TaskConfig{TargetSize: 3, MinSize: 4, MaxSize: 5}, "plan: MinSize is 4: want at most TargetSize, which is 3"},
		{cycle.TaskConfig{TargetSize: 6, MinSize: 4, MaxSize: 5}, "plan: MaxSize is 5: want at least TargetSize, which is 6"},
		{cycle.TaskConfig{TargetSize: 6}, "plan: MaxSize is 0: want at least TargetSize, which is 6"},
	} {
		tasks, err := cycle.Tasks(group(of(5, cycle.Started, "config-1")...), test.config)
		var option *cycle.OptionError
		if !errors.As(err, &option) || err.Error() != test.want {
			t.Errorf("%+v:\n got %v\nwant %s", test.config, err, test.want)
		}
		if tasks != nil {
			t.Errorf("%+v: got tasks %v with the error, want none", test.config, tasks)
		}
	}
}

// Equal bounds are fine as long as nothing has to be replaced.
func TestEqualBounds(t *testing.T) {
	config := cycle.TaskConfig{TargetSize: 5, MinSize: 5, MaxSize: 5}
	if tasks, err := cycle.Tasks(group(of(5, cycle.Started, "config-1")...), config); err != nil || len(tasks) != 0 {
		t.Errorf("nothing outdated: got %v, %v, want nothing to do", tasks, err)
	}
	if tasks, err := cycle.Tasks(group(), cycle.TaskConfig{}); err != nil || len(tasks) != 0 {
		t.Errorf("empty: got %v, %v, want nothing to do", tasks, err)
	}
	replaced := append(of(4, cycle.Started, "config-1"), old(cycle.Starting))
	if tasks, err := cycle.Tasks(group(replaced...), config); err != nil || len(tasks) != 1 {
		t.Errorf("outdated one doesn't serve: got %v, %v, want it terminated", tasks, err)
	}
	_, err := cycle.Tasks(group(of(5, cycle.Started, "config-0")...), config)
	var bounds *cycle.BoundsError
	if !errors.As(err, &bounds) || bounds.Outdated != 5 || bounds.Floor != 5 || bounds.Ceiling != 5 {
		t.Errorf("five outdated: got %v, want a BoundsError of five between 5 and 5", err)
	}
}

func TestDrainTimeout(t *testing.T) {
	cluster := group(append(of(2, cycle.Started, "config-1"), old(cycle.Draining))...)
	began := cluster.Instances[2].UpdatedAt
	config := cycle.TaskConfig{TargetSize: 2, MaxSize: 3, DrainTimeout: 2 * time.Minute}
	for _, test := range []struct {
		name string
		now  time.Time
		want string
	}{
		{"just before", began.Add(2*time.Minute - 1), "wait drained"},
		{"in time", began.Add(2 * time.Minute), "terminate 1"},
	} {
		config.Now = test.now
		tasks, err := cycle.Tasks(cluster, config)
		if err != nil || len(tasks) != 1 || phase(tasks[0].(cycle.Step)) != test.want {
			t.Errorf("%s: got %v, %v, want %s", test.name, tasks, err, test.want)
		}
	}
	config.Now, cluster.Instances[2].UpdatedAt = time.Time{}, time.Unix(0, 0) // the wall clock's, which is long after
	if tasks, err := cycle.Tasks(cluster, config); err != nil || len(tasks) != 1 || phase(tasks[0].(cycle.Step)) != "terminate 1" {
		t.Errorf("without Now: got %v, %v, want terminate 1", tasks, err)
	}
	if _, err := cycle.Plan(cluster, cycle.Options{TargetSize: 2, MaxSize: 3, DrainTimeout: time.Minute}); err == nil {
		t.Error("Plan without Now: want an error, since it has no clock")
	}
	cluster.Instances[2].UpdatedAt = time.Time{}
	config.Now = began.Add(time.Hour)
	if tasks, err := cycle.Tasks(cluster, config); err != nil || len(tasks) != 1 ||
		phase(tasks[0].(cycle.Step)) != "wait drained" {
		t.Errorf("unknown begin: got %v, %v, want wait drained", tasks, err)
	}
}

// An empty list means success. Where it would lie, there is an error.
func TestTasksTellStuckFromFinished(t *testing.T) {
	cluster := group(append(of(5, cycle.Started, "config-1"), old("hibernating"))...)
	tasks, err := cycle.Tasks(cluster, cycle.TaskConfig{TargetSize: 5, MinSize: 5, MaxSize: 10})
	var stuck *cycle.StuckError
	if !errors.As(err, &stuck) || len(stuck.Blockers) != 1 || stuck.Blockers[0].Reason != cycle.ReasonUnknownState {
		t.Fatalf("got %v, %v, want stuck by an unknown state", tasks, err)
	}
	const want = `plan cluster "c-1": stuck: i-05 unknown-state: state is hibernating: want the environment to change this`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	cluster.Instances[5].State = cycle.Terminated
	if tasks, err := cycle.Tasks(cluster, cycle.TaskConfig{TargetSize: 5, MinSize: 5, MaxSize: 10}); err != nil || len(tasks) != 0 {
		t.Errorf("a terminated one: got %v, %v, want nothing to do", tasks, err)
	}
}
