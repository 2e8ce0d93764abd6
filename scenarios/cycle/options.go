package cycle

import "time"

// Options hold what Plan needs besides the cluster. The functions must be pure for the length of one call; they are
// called one at a time.
type Options struct {
	// Now is the time by which timeouts are measured, on the clock of the instances' stamps. It may be zero where both
	// timeouts are.
	Now time.Time

	// TargetSize is the number of instances of the cluster's config wanted in the end.
	TargetSize int
	// MinSize is the least number that serves, as far as the plan can help it; at most TargetSize.
	MinSize int
	// MaxSize is the largest number that is listed, the terminating ones too; at least TargetSize. 0 doesn't bound.
	MaxSize int
	// MaxUnavailable bounds how many fewer than TargetSize may serve. The floor is the stricter of this and MinSize.
	MaxUnavailable Limit
	// MaxSurge bounds how many more than TargetSize may be listed. The ceiling is the stricter of this and MaxSize.
	MaxSurge Limit
	// MaxDraining bounds how many may drain at once.
	MaxDraining Limit

	// StartTimeout bounds the time of an instance until it serves, counted from its creation or, once it is Started,
	// from the later of CreatedAt and UpdatedAt. What takes longer has failed. 0 waits for ever.
	StartTimeout time.Duration
	// DrainTimeout bounds the time of a drain, counted from UpdatedAt. What takes longer is terminated. 0 waits for
	// ever.
	DrainTimeout time.Duration

	// Failures are the instances of the cluster's config that failed so far: the Failures of the last Decision. Start
	// with none; start again with none after the config changed or to resume a roll that its failures paused.
	Failures []InstanceID
	// FailureBudget bounds how many may fail. One more, and the roll is Paused.
	FailureBudget Limit
	// Mode holds or takes back the roll.
	Mode Mode

	// From is the config that the roll started from. Outdated instances of another are from a roll that was cut
	// short; they go first. Empty means the config of the oldest outdated instance.
	From ConfigID
	// Rank says which instances go first: lower before higher; equal ranks go by the rules of the package comment.
	Rank func(InstanceID) int
	// Ready says whether a Started instance serves. Without it all do. Where it can turn false again, UpdatedAt must
	// move with it, or StartTimeout takes the instance for one that never came up.
	Ready func(InstanceID) bool
	// MayDrain says whether an instance may be drained now, and if not, why. Without it all may. It is asked in the order
	// of the drains, only while a drain is possible, once for each instance; a yes is a drain in this plan, so that the
	// function may count what it allowed in a zone.
	MayDrain func(InstanceID) (ok bool, why string)
}

// Mode says how far a roll may go.
type Mode string

const (
	// Roll replaces and scales.
	Roll Mode = ""
	// Pause begins nothing; drains and terminations under way are brought to their end.
	Pause Mode = "pause"
	// Abort replaces and starts nothing; what is more than the target goes, the newest config first. To roll back is
	// something else: make the old config the cluster's again, and roll.
	Abort Mode = "abort"
)

// bounds are the floor of serving instances and the ceiling of listed ones; ceiling -1 is none.
func (o *Options) bounds() (floor, ceiling int) {
	floor, ceiling = o.MinSize, -1
	if n, ok := o.MaxUnavailable.Get(); ok && n < o.TargetSize {
		floor = max(floor, o.TargetSize-n)
	}
	if o.MaxSize > 0 {
		ceiling = o.MaxSize
	}
	// The comparison is written so that no sum overflows.
	if n, ok := o.MaxSurge.Get(); ok && (ceiling < 0 || n < ceiling-o.TargetSize) {
		if n <= maxInt-o.TargetSize {
			ceiling = o.TargetSize + n
		}
	}
	return floor, ceiling
}

const maxInt = int(^uint(0) >> 1)
