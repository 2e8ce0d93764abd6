package variant

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// strategiesOf are those by which the file may be rolled instead: the provider's, or the file's alone where it rolls pods in
// place or nothing.
func strategiesOf(f *spec.File) []spec.Strategy {
	switch {
	case f.Roll == nil:
		return nil
	case f.Roll.Workload != "":
		return []spec.Strategy{f.Roll.Strategy}
	}
	return spec.Strategies(f.Cluster.Provider)
}

// rolled draws a roll that has the settings that all cases have. What contradicts them isn't drawn: the roll is the file's then.
func (d *drawer) rolled() {
	if d.f.Roll == nil {
		return
	}
	files := *d.f.Roll
	d.roll()
	if len(d.space.Roll) == 0 {
		return
	}
	if f, err := d.f.Rolled(nil, d.space.Roll); err == nil {
		files = *f.Roll
	}
	*d.f.Roll = files
}

// roll draws a strategy, and what it lets its users choose.
func (d *drawer) roll() {
	r := d.f.Roll
	if d.once(4) {
		strategies := d.space.Strategies
		if d.f.Cluster.Provider != d.space.File.Cluster.Provider { // a parameter chose it
			strategies = strategiesOf(d.f)
		}
		*r = r.By(pick(d.Rand, strategies))
	}
	has := r.Strategy.Choices()
	if has.MaxUnavailable && d.once(2) {
		r.MaxUnavailable = d.amount(0)
	}
	if has.MaxSurge && d.once(2) {
		r.MaxSurge = d.amount(0)
	}
	if has.MaxUnavailable && r.MaxSurge.Value == 0 {
		r.MaxUnavailable.Value = max(r.MaxUnavailable.Value, 1) // or nothing could be replaced
	}
	if has.Budget && d.once(2) {
		r.Budget = d.amount(1)
	}
	for _, v := range []struct {
		has   bool
		value *time.Duration
		of    []time.Duration
	}{
		{has.EvictionTimeout, &r.EvictionTimeout, []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}},
		{has.JoinTimeout, &r.JoinTimeout, []time.Duration{2 * time.Minute, 5 * time.Minute, 15 * time.Minute}},
		{has.SettleAfterDrain, &r.SettleAfterDrain, []time.Duration{0, 30 * time.Second, time.Minute, 5 * time.Minute}},
		{has.Soak, &r.Soak, []time.Duration{0, time.Minute, 10 * time.Minute, time.Hour}},
	} {
		if v.has && d.once(4) {
			*v.value = pick(d.Rand, v.of)
		}
	}
	if has.Force && d.once(3) {
		r.Force = d.once(2)
	}
	if d.once(4) {
		r.OnFailure = pick(d.Rand, []spec.OnFailure{spec.OnFailureLeave, spec.OnFailureRollback})
	}
	if r.Workload != "" {
		return
	}
	if d.once(8) && r.StopAfter == 0 {
		r.RollbackAt = spec.Percent(pick(d.Rand, []int{0, 30, 60, 100}))
	}
	if len(r.Groups) > 1 && d.once(3) {
		r.Parallel = d.once(2)
	}
}

// amount draws a small number, or a percentage of at least one node.
func (d *drawer) amount(from int) spec.IntOrPercent {
	if d.once(4) {
		return spec.IntOrPercent{Value: pick(d.Rand, []int{10, 33, 50, 100}), IsPercent: true}
	}
	return spec.IntOrPercent{Value: from + d.IntN(4)}
}
