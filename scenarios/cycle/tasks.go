package cycle

import "time"

// TaskConfig configures Tasks.
type TaskConfig struct {
	TargetSize int
	MinSize    int
	MaxSize    int
	// DrainTimeout bounds a drain, after which the instance is terminated; 0 waits for ever. It needs Now.
	DrainTimeout time.Duration
	// Now is the present time, since this package reads no clock. It may be zero where DrainTimeout is.
	Now time.Time
}

// Tasks is Plan for callers that know an outcome only by its tasks: an empty list means that the cluster is as it should
// be. Every task is a Step, in the order of Decision.Steps.
//
// MinSize ≤ TargetSize ≤ MaxSize must hold. Errors are those of Plan, among them an *OptionError where DrainTimeout is set
// and Now isn't, and a *StuckError where nothing can be done though the cluster isn't as it should be.
func Tasks(cluster Cluster, config TaskConfig) ([]Task, error) {
	options := Options{
		Now: config.Now, TargetSize: config.TargetSize, MinSize: config.MinSize, MaxSize: config.MaxSize,
		DrainTimeout: config.DrainTimeout,
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
