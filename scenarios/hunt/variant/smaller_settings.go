package variant

import (
	"reflect"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// usualSettings has the roll and the cluster as the base has them: no roll, the base's roll, each setting of its own, the jitter.
func usualSettings(f, base *spec.File, yield func(*spec.File) bool) bool {
	if f.Roll != nil {
		c := clone(f)
		c.Roll = nil
		if !yield(c) {
			return false
		}
	}
	if f.Roll != nil && base.Roll != nil {
		for _, set := range rollSteps {
			c := clone(f)
			set(c.Roll, base.Roll)
			if sameRoll(c.Roll, f.Roll) || !valid(c.Roll) {
				continue
			}
			if !yield(c) {
				return false
			}
		}
	}
	if f.Cluster.Jitter != base.Cluster.Jitter {
		c := clone(f)
		c.Cluster.Jitter = base.Cluster.Jitter
		if !yield(c) {
			return false
		}
	}
	if f.Autoscaler != nil && f.Autoscaler.Kind != spec.AutoscalerNodeManager {
		c := clone(f)
		c.Autoscaler = nil
		return yield(c)
	}
	return true
}

// rollSteps make a roll more like another one. The first takes all of it; the others need the same strategy, whose choices
// they are.
var rollSteps = []func(r, base *spec.Roll){
	func(r, base *spec.Roll) {
		groups := r.Groups
		*r = *base
		r.Groups = groups
	},
	ofStrategy(func(r, base *spec.Roll) { r.MaxUnavailable = base.MaxUnavailable }),
	ofStrategy(func(r, base *spec.Roll) { r.MaxSurge = base.MaxSurge }),
	ofStrategy(func(r, base *spec.Roll) { r.Budget = base.Budget }),
	ofStrategy(func(r, base *spec.Roll) { r.EvictionTimeout = base.EvictionTimeout }),
	ofStrategy(func(r, base *spec.Roll) { r.JoinTimeout = base.JoinTimeout }),
	ofStrategy(func(r, base *spec.Roll) { r.SettleAfterDrain = base.SettleAfterDrain }),
	ofStrategy(func(r, base *spec.Roll) { r.Soak = base.Soak }),
	ofStrategy(func(r, base *spec.Roll) { r.Force = base.Force }),
	func(r, base *spec.Roll) { r.OnFailure = base.OnFailure },
	func(r, base *spec.Roll) { r.RollbackAt = base.RollbackAt },
	func(r, base *spec.Roll) { r.Parallel = base.Parallel },
}

func ofStrategy(set func(r, base *spec.Roll)) func(r, base *spec.Roll) {
	return func(r, base *spec.Roll) {
		if r.Strategy == base.Strategy {
			set(r, base)
		}
	}
}

// valid reports whether the checks of a file take the numbers of a roll together.
func valid(r *spec.Roll) bool {
	has := r.Strategy.Choices()
	return (!has.MaxUnavailable || r.MaxUnavailable.Value > 0 || r.MaxSurge.Value > 0) && (r.RollbackAt == 0 || r.StopAfter == 0)
}

// sameRoll compares what rollSteps change.
func sameRoll(a, b *spec.Roll) bool { return reflect.DeepEqual(a, b) }
