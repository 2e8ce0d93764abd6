package cycle

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/nodesim/nodesim/scenarios/cycle/internal/pool"
)

// Run runs tasks as the zero Runner does.
func Run(ctx context.Context, env Environment, tasks ...Task) error {
	return Runner{}.Run(ctx, env, tasks...)
}

// Runner runs tasks. It is the one part of the package that waits for something.
type Runner struct {
	// Parallel is the number of tasks that run at once; 0 means 8.
	Parallel int
	// StopOnError cancels the context of the tasks in the stage of a failed one, and doesn't begin the stages after it.
	// Otherwise every task has its turn.
	StopOnError bool
}

const defaultParallel = 8

// Run runs the tasks and returns when the last one has ended. Steps run in the order in which capacity is safe,
// whatever the order of the arguments: starts (so that no drain comes before its surge is accepted), awaiting starts,
// drains and terminations, awaiting their ends. Each stage waits for the one before; the tasks within one are
// independent and run at once. Tasks that are no Steps count as drains do.
//
// The errors of all tasks are joined in the order of the arguments, each with its step in front; a panic of a task is a
// *PanicError. nil means that all succeeded. The context is handed to every task.
func (r Runner) Run(ctx context.Context, env Environment, tasks ...Task) error {
	parallel := r.Parallel
	if parallel <= 0 {
		parallel = defaultParallel
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	failed := make([]error, len(tasks))
	for stage := range stages {
		var indexes []int
		for i, t := range tasks {
			if stageOf(t) == stage {
				indexes = append(indexes, i)
			}
		}
		pool.Each(len(indexes), parallel, func(n int) {
			i := indexes[n]
			failed[i] = execute(ctx, env, tasks[i])
			if failed[i] != nil && r.StopOnError {
				cancel(errStopped)
			}
		})
		if r.StopOnError && slices.ContainsFunc(failed, func(err error) bool { return err != nil }) {
			break
		}
	}
	return errors.Join(failed...)
}

var errStopped = errors.New("another task failed")

const stages = 4

func stageOf(t Task) int {
	s, ok := t.(Step)
	switch {
	case ok && s.Kind == Start:
		return 0
	case ok && s.Kind == Wait && s.Await == Started:
		return 1
	case ok && s.Kind == Wait:
		return 3
	}
	return 2
}

// execute runs one task, names it in its error, and catches its panic.
func execute(ctx context.Context, env Environment, task Task) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{value, debug.Stack()}
		}
		if s, ok := task.(Step); ok && err != nil {
			err = fmt.Errorf("%s: %w", s.brief(), err)
		}
	}()
	return task.Run(ctx, env)
}
