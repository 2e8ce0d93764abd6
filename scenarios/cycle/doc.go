// Package cycle plans a rolling replacement: old instances of a cluster are drained and terminated while new ones start,
// with never too few that serve and never too many in all.
//
// What goes in: one description of the cluster (Cluster), and the bounds, the time and the rules of the roll
// (Options). What comes out: a Decision, which says how the roll stands, what to do now, and why no more. The planner
// keeps nothing: describe, Plan, execute, and again, until the roll is Finished.
//
//	for {
//		cluster, err := env.DescribeCluster(ctx, id)
//		…
//		options.Now = clock.Now()
//		decision, err := cycle.Plan(cluster, options)
//		…
//		if decision.Progress == cycle.Finished {
//			return nil
//		}
//		if len(decision.Steps) == 0 {
//			… // Blockers say why: give up, or wait for decision.Again or the next look
//		}
//		options.Failures = decision.Failures
//		err = cycle.Run(ctx, env, decision.Tasks()...)
//		…
//	}
//
// The parts:
//
//	Cluster, Instance, InstanceState   what there is
//	Options, Limit, Mode               what is wanted, and within which bounds
//	Plan, Decision, Progress, Blocker  what to do now, how it stands, why no more is done
//	Step, Target, Reason               one thing to do, on which instances, each for which reason
//	Tasks, TaskConfig                  Plan for callers that know tasks only
//	Environment, DryRun, Observe       the world in which it is done, and two decorators that pass every error on
//	Run, Runner                        the executor
//
// # Bounds
//
// An instance serves if it is Started and Options.Ready says so. At least floor instances serve, the greater of MinSize
// and TargetSize − MaxUnavailable; at most ceiling are listed, the lesser of MaxSize and TargetSize + MaxSurge. Instances
// of every state but Terminated are listed. Without MinSize and MaxUnavailable the floor is 0, and all old instances go
// at once.
//
// The planner never drains a serving instance where that leaves fewer than floor, and never starts one beyond the ceiling.
// It starts no more than are missing: TargetSize, less those of the cluster's config that serve or may come to it. What is
// outside the bounds without its doing (instances that fail, a ceiling that came down) it brings back as far as the other
// bound lets it. A floor and a ceiling that meet leave no room to replace what serves; Plan then returns a *BoundsError.
//
// # What happens to an instance
//
//	Starting     awaited; terminated where it is outdated or surplus (it never served), or after StartTimeout
//	Started      drained where it is outdated or surplus, within the bounds and if MayDrain says so; terminated where it
//	             is of the cluster's config and not ready for StartTimeout
//	Draining     awaited; terminated after DrainTimeout
//	Drained      terminated
//	Terminating  awaited
//	Unhealthy    terminated
//	Terminated   passed over
//	others       nothing; the roll can't finish, and a Blocker says why
//
// Drains go by this order: the lowest Rank; what doesn't serve, since it costs no capacity; what a roll that was cut short
// left behind (a config that is neither the cluster's nor Options.From); the oldest; the lowest id. Surplus is drained
// when nothing outdated is left. A stamp later than Now is listed as clock skew, and its timeout counts from the stamp:
// late rather than early, since what follows a timeout can't be taken back.
//
// # When it goes wrong
//
// Replacements that don't come up cost no more capacity than the floor allows, since old instances are drained only as new
// ones serve. What fails is terminated and started again, until more than FailureBudget failed: then the roll is Paused,
// what drains is brought to its end, and nothing new is begun. From there, hand in no Failures to resume, Abort to remove
// what is too much, or make the old config the cluster's again to roll back; the new instances then are the ones that a
// roll cut short left behind, and go first.
//
// Where nothing can be done though the roll isn't at its end, it is Stuck, and Blockers lists each reason.
//
// # What the package must not do
//
// Plan reads no clock, no random source and no environment, starts no goroutine, changes none of its arguments, and gives
// the same bytes for the same input in whatever order it lists the instances. So does Tasks, but for the time where a
// TaskConfig with a DrainTimeout names none. The package knows nothing of
// Kubernetes: pods, zones and disruption budgets reach it as Ready, MayDrain and Rank. Only Run waits.
//
// Its API may still change (docs/stability.md).
package cycle
