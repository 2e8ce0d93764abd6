package cycle_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

// A roll of three, one more at a time: describe, plan, perform, until it is finished.
func ExamplePlan() {
	ctx, env := context.Background(), newMemory(group(of(3, cycle.Started, "config-0")...))
	options := cycle.Options{
		TargetSize: 3, MaxUnavailable: cycle.AtMost(0), MaxSurge: cycle.AtMost(1), FailureBudget: cycle.AtMost(0),
		Now: noon, StartTimeout: 15 * time.Minute,
	}
	for round := 1; round <= 7; round++ {
		cluster, err := env.DescribeCluster(ctx, "c-1")
		if err != nil {
			fmt.Println(err)
			return
		}
		decision, err := cycle.Plan(cluster, options)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, step := range decision.Steps {
			fmt.Println(round, step)
		}
		options.Failures = decision.Failures
		if err := cycle.Run(ctx, env, decision.Tasks()...); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// 1 start 1 (outdated)
	// 2 wait until started: new-0001 (starting)
	// 3 drain i-00 (outdated)
	// 4 wait until drained: i-00 (draining)
	// 5 terminate i-00 (drained)
	// 6 wait until terminated: i-00 (terminating)
	// 7 start 1 (outdated)
}

// Why nothing happens is part of the decision.
func ExampleDecision_stuck() {
	cluster := group(of(2, cycle.Started, "config-0")...)
	decision, err := cycle.Plan(cluster, cycle.Options{
		TargetSize: 2, MaxUnavailable: cycle.AtMost(1), MaxSurge: cycle.AtMost(0),
		MayDrain: func(cycle.InstanceID) (bool, string) { return false, "budget shop/web allows no disruption" },
	})
	fmt.Println(decision, err)
	// Output:
	// stuck: 2 listed, 2 serving, 2 outdated
	//   held: i-00 refused: budget shop/web allows no disruption
	//   held: i-01 refused: budget shop/web allows no disruption
	//   held: ceiling holds back 2: 2 listed of at most 2 <nil>
}

// Rolling back is a roll to the old config: v2 turned out to be broken, so v1 is the cluster's config again.
func ExamplePlan_rollback() {
	cluster := group(
		cycle.Instance{State: cycle.Started, Config: "v1"}, cycle.Instance{State: cycle.Started, Config: "v1"},
		cycle.Instance{State: cycle.Started, Config: "v2"}, cycle.Instance{State: cycle.Unhealthy, Config: "v2"},
	)
	cluster.Config = "v1"
	decision, err := cycle.Plan(cluster, cycle.Options{TargetSize: 3, MaxUnavailable: cycle.AtMost(1), MaxSurge: cycle.AtMost(2)})
	fmt.Println(decision, err)
	// Output:
	// working: 4 listed, 3 serving, 2 outdated
	//   start 1 (outdated)
	//   drain i-02 (outdated)
	//   terminate i-03 (unhealthy) <nil>
}

// An empty list of tasks means that the cluster is as it should be.
func ExampleTasks() {
	tasks, err := cycle.Tasks(group(of(5, cycle.Started, "config-0")...), cycle.TaskConfig{TargetSize: 5, MinSize: 4, MaxSize: 6})
	fmt.Println(tasks, err)
	_, err = cycle.Tasks(group(of(5, cycle.Started, "config-0")...), cycle.TaskConfig{TargetSize: 5, MinSize: 5, MaxSize: 5})
	var bounds *cycle.BoundsError
	fmt.Println(errors.As(err, &bounds))
	// Output:
	// [start 1 (outdated) drain i-00 (outdated)] <nil>
	// true
}

// Observe logs, DryRun leaves everything as it is; both pass errors on.
func ExampleObserve() {
	env := cycle.Observe(cycle.DryRun(newMemory(group())), func(c cycle.Call) {
		fmt.Println(c.Method, c.IDs, c.Err)
	})
	err := cycle.Run(context.Background(), env, cycle.Step{
		Kind: cycle.Drain, Count: 1, Targets: []cycle.Target{{ID: "i-00", Reason: cycle.ReasonOutdated}},
	})
	fmt.Println(err)
	// Output:
	// DrainInstances [i-00] <nil>
	// <nil>
}
