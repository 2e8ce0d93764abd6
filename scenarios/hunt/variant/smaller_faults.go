package variant

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// simplerFaults has faults hit fewer nodes, less often, for a shorter time and without delay.
func simplerFaults(f, _ *spec.File, yield func(*spec.File) bool) bool {
	for i := range f.Faults {
		for _, simpler := range faultSteps {
			c := clone(f)
			if !simpler(&c.Faults[i]) {
				continue
			}
			if !yield(c) {
				return false
			}
		}
	}
	return true
}

// faultSteps make a fault simpler, and say whether there was anything to do. What is below a pointer is replaced: the fault is a
// copy, and what it points to is not.
var faultSteps = []func(*spec.Fault) bool{
	func(f *spec.Fault) bool { // at a round time
		if f.At == nil || *f.At%time.Minute == 0 {
			return false
		}
		at := f.At.Truncate(time.Minute)
		f.At = &at
		return true
	},
	func(f *spec.Fault) bool {
		return replaced(&f.When, func(w *spec.When) bool { return lower(&w.Count, 1) })
	},
	func(f *spec.Fault) bool {
		return replaced(&f.When, func(w *spec.When) bool { return none(&w.Delay) })
	},
	func(f *spec.Fault) bool {
		return replaced(&f.After, func(a *spec.After) bool { return none(&a.Delay) })
	},
	func(f *spec.Fault) bool {
		return victims(f, func(v *spec.Victims) bool { return lower(&v.Nodes, 1) })
	},
	func(f *spec.Fault) bool {
		return victims(f, func(v *spec.Victims) bool {
			was := v.Which
			v.Which = spec.WhichAny
			return was != spec.WhichAny
		})
	},
	func(f *spec.Fault) bool {
		return victims(f, func(v *spec.Victims) bool {
			was := v.Group
			v.Group = ""
			return was != "" && f.SpotInterruption == nil // whose group has to be one of spot instances
		})
	},
	func(f *spec.Fault) bool {
		return down(f, func(d *spec.Down) bool {
			if !lower(&d.Times, 1) {
				return false
			}
			d.Every = 2 * d.For
			return true
		})
	},
	func(f *spec.Fault) bool {
		return down(f, func(d *spec.Down) bool {
			if !shorter(&d.For) {
				return false
			}
			d.Every = 2 * d.For
			return true
		})
	},
	func(f *spec.Fault) bool {
		return replaced(&f.CapacityShortage, func(s *spec.CapacityShortage) bool { return shorter(&s.For) })
	},
	func(f *spec.Fault) bool {
		return replaced(&f.ImagePull, func(p *spec.ImagePull) bool { return shorter(&p.For) })
	},
	func(f *spec.Fault) bool {
		return replaced(&f.ZoneOutage, func(z *spec.ZoneOutage) bool { return shorter(&z.For) })
	},
	func(f *spec.Fault) bool {
		return replaced(&f.VolumeStuck, func(v *spec.VolumeStuck) bool { return shorter(&v.For) })
	},
	func(f *spec.Fault) bool {
		return replaced(&f.Crash, func(c *spec.Crash) bool { return lower(&c.Pods, 1) })
	},
	func(f *spec.Fault) bool {
		return replaced(&f.NeverReady, func(n *spec.NeverReady) bool { return lower(&n.Nodes, 1) })
	},
	func(f *spec.Fault) bool {
		return replaced(&f.SpotInterruption, func(s *spec.SpotInterruption) bool { return none(&s.RebalanceLead) })
	},
}

// replaced changes a copy of what a fault points to, and has it point there if that changed anything.
func replaced[T any](at **T, change func(*T) bool) bool {
	if *at == nil {
		return false
	}
	c := **at
	if !change(&c) {
		return false
	}
	*at = &c
	return true
}

// victims changes the victims of a fault that has any.
func victims(f *spec.Fault, change func(*spec.Victims) bool) bool {
	for _, at := range []**spec.Victims{&f.Reboot, &f.Shutdown, &f.Cordon, &f.Uncordon, &f.Delete} {
		if replaced(at, change) {
			return true
		}
	}
	return replaced(&f.SpotInterruption, func(s *spec.SpotInterruption) bool { return change(&s.Victims) }) ||
		replaced(&f.Vanish, func(v *spec.Vanish) bool { return change(&v.Victims) }) ||
		down(f, func(d *spec.Down) bool { return change(&d.Victims) })
}

func down(f *spec.Fault, change func(*spec.Down) bool) bool {
	return replaced(&f.KubeletDown, change) || replaced(&f.RuntimeDown, change)
}

// victimsOf are the victims of a fault, nil where it has none.
func victimsOf(f *spec.Fault) (found *spec.Victims) {
	victims(f, func(v *spec.Victims) bool {
		found = v
		return false
	})
	return found
}

func lower(n *int, to int) bool {
	if *n <= to {
		return false
	}
	*n = to
	return true
}

func none(d *time.Duration) bool {
	was := *d
	*d = 0
	return was != 0
}

// shorter halves a duration in whole seconds; 0, which is without an end, and a second stay.
func shorter(d *time.Duration) bool {
	half := (*d / 2).Truncate(time.Second)
	if half < time.Second {
		return false
	}
	*d = half
	return true
}
