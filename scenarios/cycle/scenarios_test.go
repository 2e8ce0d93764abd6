package cycle_test

import (
	"slices"
	"testing"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

// Each scenario repeats describe, plan and run until the plan is empty. Beside the end, every look in between is held
// against the bounds: never more listed than MaxSize, never fewer serving than MinSize by our own doing.
func TestScenariosReachTheirTarget(t *testing.T) {
	mixed := func() []cycle.Instance {
		return []cycle.Instance{
			old(cycle.Started), old(cycle.Starting), old(cycle.Draining), old(cycle.Drained), old(cycle.Terminating),
		}
	}
	olds := func() []cycle.Instance { return of(5, cycle.Started, "config-0") }
	for _, test := range []struct {
		name             string
		instances        []cycle.Instance
		target, min, max int
	}{
		{"an empty cluster stays empty", nil, 0, 0, 100},
		{"an empty cluster grows to its target", nil, 10, 0, 100},
		{"a target of zero terminates all", of(5, cycle.Started, "config-1"), 0, 0, 100},
		{"all may be missing", olds(), 5, 0, 5},
		{"one may be missing", olds(), 5, 4, 5},
		{"twice as many may be there", olds(), 5, 5, 10},
		{"one more may be there", olds(), 5, 5, 6},
		{"fewer and more may be there", olds(), 5, 3, 8},
		{"all may be missing, mixed states", mixed(), 5, 0, 5},
		{"one may be missing, mixed states", mixed(), 5, 4, 5},
		{"twice as many may be there, mixed states", mixed(), 5, 5, 10},
		{"one more may be there, mixed states", mixed(), 5, 5, 6},
		{"fewer and more may be there, mixed states", mixed(), 5, 3, 8},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := newMemory(group(test.instances...))
			id, err := env.LookupClusterID(t.Context(), "web")
			if err != nil {
				t.Fatal(err)
			}
			config := cycle.TaskConfig{TargetSize: test.target, MinSize: test.min, MaxSize: test.max}
			before := -1 // serving at the last look
			for round := 0; ; round++ {
				if round == 100 {
					t.Fatal("not finished after 100 rounds")
				}
				cluster, err := env.DescribeCluster(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				serving := count(cluster, cycle.Started)
				if listed := len(cluster.Instances); listed > test.max {
					t.Errorf("round %d: %d listed, want at most %d", round, listed, test.max)
				}
				if before >= 0 && serving < before && serving < test.min {
					t.Errorf("round %d: %d serve after %d, want at least %d", round, serving, before, test.min)
				}
				before = serving
				tasks, err := cycle.Tasks(cluster, config)
				if err != nil {
					t.Fatal(err)
				}
				if len(tasks) == 0 {
					break
				}
				if err := cycle.Run(t.Context(), env, tasks...); err != nil {
					t.Fatal(err)
				}
			}
			end, err := env.DescribeCluster(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if len(end.Instances) != test.target {
				t.Errorf("%d instances at the end, want %d", len(end.Instances), test.target)
			}
			for _, i := range end.Instances {
				if i.State != cycle.Started || i.Config != end.Config {
					t.Errorf("%s is %s of %s at the end, want started of %s", i.ID, i.State, i.Config, end.Config)
				}
			}
		})
	}
}

func count(cluster cycle.Cluster, state cycle.InstanceState) (n int) {
	for _, i := range cluster.Instances {
		if i.State == state {
			n++
		}
	}
	return n
}

// The phases of five old instances, all of which may be doubled, and all of which may be missing.
func TestPhases(t *testing.T) {
	for _, test := range []struct {
		min, max int
		want     []string
	}{
		{5, 10, []string{
			"start 5", "wait started", "drain 5", "wait drained", "terminate 5", "wait terminated",
		}},
		{5, 100, []string{ // as many as are needed, not as many as there is room for
			"start 5", "wait started", "drain 5", "wait drained", "terminate 5", "wait terminated",
		}},
		{0, 5, []string{
			"drain 5", "wait drained", "terminate 5", "wait terminated", "start 5", "wait started",
		}},
	} {
		env := newMemory(group(of(5, cycle.Started, "config-0")...))
		var got []string
		for range 20 {
			cluster, err := env.DescribeCluster(t.Context(), "c-1")
			if err != nil {
				t.Fatal(err)
			}
			tasks, err := cycle.Tasks(cluster, cycle.TaskConfig{TargetSize: 5, MinSize: test.min, MaxSize: test.max})
			if err != nil {
				t.Fatal(err)
			}
			for _, task := range tasks {
				got = append(got, phase(task.(cycle.Step)))
			}
			if err := cycle.Run(t.Context(), env, tasks...); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("min %d, max %d:\n got %q\nwant %q", test.min, test.max, got, test.want)
		}
	}
}
