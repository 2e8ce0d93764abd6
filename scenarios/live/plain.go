package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// byCycle reports whether package cycle plans and executes a roll from outside of the simulation. The providers' own
// ways are the actors' business, and so is a roll that turns back, stalls, or waits after each drain.
func byCycle(r *scenarios.Roll) bool {
	return r != nil && r.Strategy == spec.StrategyPlain && r.SettleAfterDrain == 0 && r.RollbackAt == 0 && r.StopAfter == 0 && r.OnFailure != spec.OnFailureRollback
}

// The codes of a roll that has failed, as those of the simulation's.
const (
	undrained = "PodEvictionFailure"
	unjoined  = "NodeCreationFailure"
)

// A failedRoll is the error of a roll that the cluster didn't let go on.
type failedRoll struct{ code, reason string }

func (e *failedRoll) Error() string { return e.code + ": " + e.reason }

// bounds are those of a plain roll: as many at a time as surge and unavailability
// say.
func bounds(r *scenarios.Roll, size int) cycle.Options {
	surge, unavailable := r.MaxSurge.Of(size, true), r.MaxUnavailable.Of(size, false)
	if surge+unavailable == 0 {
		surge = 1
	}
	return cycle.Options{
		TargetSize: size, MaxSurge: cycle.AtMost(surge), MaxUnavailable: cycle.AtMost(min(unavailable, size)),
		MaxDraining: cycle.AtMost(surge + unavailable),
	}
}

// rollPlain rolls the groups, one after another or all at once, at their time, and reports the outcome of each to the
// live run.
func (r *run) rollPlain(ctx context.Context, poll func(context.Context) error) error {
	roll := r.file.Roll
	if err := r.await(ctx, roll.At, poll); err != nil {
		return err
	}
	var owned sync.WaitGroup
	defer owned.Wait()
	var mu sync.Mutex
	var failed error
	for _, group := range roll.Groups {
		one := func() {
			// A group has an environment of its own, as a drain that fails is its roll's.
			if err := r.rollGroup(ctx, newEnvironment(r.eventLoop, r.sim, poll), group); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
			}
		}
		if !roll.Parallel {
			one()
		} else {
			owned.Go(one)
		}
	}
	owned.Wait()
	return failed
}

// rollGroup rolls one group: describe, plan, execute, until the plan is finished.
func (r *run) rollGroup(ctx context.Context, env *environment, group string) error {
	err := r.cycle(ctx, env, group)
	var failed *failedRoll
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	return r.rolled(ctx, failed)
}

// await waits until the scenario has come to a moment.
func (r *run) await(ctx context.Context, at time.Duration, poll func(context.Context) error) error {
	for !r.begun.Load() || time.Duration(r.at.Load()) < at {
		if err := poll(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rolled reports the outcome of a roll to the live run.
func (r *run) rolled(ctx context.Context, failed *failedRoll) error {
	return r.eventLoop.call(ctx, func() {
		if failed == nil {
			r.sim.FinishRoll("", "")
			return
		}
		r.apiServer.Mark("failed", failed.Error())
		r.sim.FinishRoll(failed.code, failed.reason)
	})
}

func (r *run) cycle(ctx context.Context, env *environment, group string) error {
	id, err := env.LookupClusterID(ctx, group)
	if err != nil {
		return err
	}
	if err := env.on(ctx, func() error { return r.sim.Retarget(group) }); err != nil {
		return err
	}
	options := bounds(r.file.Roll, sizeOf(r.file, group))
	var wait progressDeadline
	for {
		cluster, err := env.DescribeCluster(ctx, id)
		if err != nil {
			return err
		}
		if options.Now, err = env.Now(ctx); err != nil {
			return err
		}
		decision, err := cycle.Plan(cluster, options)
		if err != nil {
			return err
		}
		switch {
		case env.Failed() != nil:
			return &failedRoll{undrained, env.Failed().Error()}
		case decision.Progress == cycle.Finished:
			return nil
		case wait.over(decision, options.Now, r.file.Roll.JoinTimeout):
			return &failedRoll{unjoined, fmt.Sprintf("no new node of %s became ready within %s", group, r.file.Roll.JoinTimeout)}
		}
		options.Failures = decision.Failures
		due, err := env.lookDue(ctx, id)
		if err != nil {
			return err
		}
		if due {
			if err := cycle.Run(ctx, env, decision.Tasks()...); err != nil {
				return err
			}
		}
		if err := env.poll(ctx); err != nil {
			return err
		}
	}
}

func sizeOf(f *scenarios.File, group string) int {
	for _, g := range f.Groups {
		if g.Name == group {
			return g.Nodes
		}
	}
	return 0
}

// progressDeadline bounds how long a roll waits for new nodes.
type progressDeadline struct {
	serving int
	since   time.Time
}

// over reports whether nothing has come of waiting for too long. The wait for new nodes doesn't count during a drain.
func (p *progressDeadline) over(d cycle.Decision, now time.Time, most time.Duration) bool {
	c := d.Census
	if p.since.IsZero() || c.Serving > p.serving || c.Draining+c.Drained+c.Terminating > 0 || c.Starting+c.NotReady == 0 {
		p.since = now
	}
	p.serving = c.Serving
	return most > 0 && now.Sub(p.since) >= most
}
