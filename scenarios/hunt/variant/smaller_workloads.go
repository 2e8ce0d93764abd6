package variant

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// simplerWorkloads leaves out what most workloads don't have, and has pods stop and become ready at once.
func simplerWorkloads(f, _ *spec.File, yield func(*spec.File) bool) bool {
	for i := range f.Workloads {
		for _, simpler := range workloadSteps {
			c := clone(f)
			if !simpler(&c.Workloads[i]) {
				continue
			}
			if !yield(c) {
				return false
			}
		}
	}
	return true
}

var workloadSteps = []func(*spec.Workload) bool{
	func(w *spec.Workload) bool {
		was := w.Volume
		w.Volume = nil
		return was != nil
	},
	func(w *spec.Workload) bool {
		was := len(w.Containers)
		w.Containers = nil
		return was > 0
	},
	func(w *spec.Workload) bool {
		was := w.Finalizer
		w.Finalizer, w.FinalizerHeld = "", 0
		return was != ""
	},
	func(w *spec.Workload) bool {
		was := w.Spread
		w.Spread, w.SpreadHard = spec.SpreadNone, false
		return was != spec.SpreadNone
	},
	func(w *spec.Workload) bool {
		was := w.DoNotDisrupt
		w.DoNotDisrupt = false
		return was
	},
	func(w *spec.Workload) bool { return at(&w.Stop, time.Second) },
	func(w *spec.Workload) bool { return at(&w.Ready, time.Second) },
}

// at has something take a fixed time.
func at(d *spec.Dist, fixed time.Duration) bool {
	if d.Kind == spec.DistFixed {
		return false
	}
	*d = spec.Dist{Kind: spec.DistFixed, Median: fixed}
	return true
}
