package cycle

import (
	"time"

	"k8s.io/utils/clock"
)

// wall is the clock of a TaskConfig without Now; Plan has none.
var wall clock.PassiveClock = clock.RealClock{}

// TaskConfig configures Tasks.
type TaskConfig struct {
	TargetSize int
	MinSize    int
	MaxSize    int
	// DrainTimeout bounds a drain, after which the instance is terminated; 0 waits for ever.
	DrainTimeout time.Duration
	// Now is the present time; zero means that of the wall clock. Equal clusters and configs give equal tasks only where it is set.
	Now time.Time
}

// Tasks is Plan for callers that know an outcome only by its tasks: an empty list means that the cluster is as it should
// be. Every task is a Step, in the order of Decision.Steps.
//
// MinSize ≤ TargetSize ≤ MaxSize must hold. Errors are those of Plan, and a *StuckError where nothing can be done though the
// cluster isn't as it should be.
func Tasks(cluster Cluster, config TaskConfig) ([]Task, error) {
	options := Options{
		Now: config.Now, TargetSize: config.TargetSize, MinSize: config.MinSize, MaxSize: config.MaxSize,
		DrainTimeout: config.DrainTimeout,
	}
	if options.Now.IsZero() && options.DrainTimeout > 0 {
		options.Now = wall.Now()
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	if config.MaxSize == 0 && config.TargetSize > 0 { // in Options, 0 doesn't bound
		return nil, &OptionError{"MaxSize", 0, "at least TargetSize, which is " + itoa(config.TargetSize)}
	}
	decision, err := Plan(cluster, options)
	if err != nil {
		return nil, err
	}
	if decision.Progress == Stuck {
		return nil, &StuckError{cluster.ID, decision.Blockers}
	}
	return decision.Tasks(), nil
}
