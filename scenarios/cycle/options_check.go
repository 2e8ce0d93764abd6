package cycle

import "time"

// check finds the first option that can't be.
func (o *Options) check() error {
	for _, n := range []struct {
		field string
		value int
	}{{"TargetSize", o.TargetSize}, {"MinSize", o.MinSize}, {"MaxSize", o.MaxSize}} {
		if n.value < 0 {
			return &OptionError{n.field, n.value, "0 or more"}
		}
	}
	for _, l := range []struct {
		field string
		value Limit
	}{
		{"MaxUnavailable", o.MaxUnavailable}, {"MaxSurge", o.MaxSurge}, {"MaxDraining", o.MaxDraining},
		{"FailureBudget", o.FailureBudget},
	} {
		if l.value.n < 0 {
			return &OptionError{l.field, l.value, "0 or more"}
		}
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"StartTimeout", o.StartTimeout}, {"DrainTimeout", o.DrainTimeout}} {
		if d.value < 0 {
			return &OptionError{d.field, d.value, "0 or more; 0 waits for ever"}
		}
		if d.value > 0 && o.Now.IsZero() {
			return &OptionError{"Now", "zero", "the present time, since " + d.field + " is " + d.value.String()}
		}
	}
	switch {
	case o.MinSize > o.TargetSize:
		return &OptionError{"MinSize", o.MinSize, "at most TargetSize, which is " + itoa(o.TargetSize)}
	case o.MaxSize > 0 && o.MaxSize < o.TargetSize:
		return &OptionError{"MaxSize", o.MaxSize, "at least TargetSize, which is " + itoa(o.TargetSize)}
	}
	switch o.Mode {
	case Roll, Pause, Abort:
		return nil
	}
	return &OptionError{"Mode", string(o.Mode), `"" (Roll), "pause" or "abort"`}
}
