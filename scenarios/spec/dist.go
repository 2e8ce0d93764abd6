package spec

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// A Dist is a distribution of durations, as a file says it.
//
// It is written 5s, {median: 38s, p95: 65s}, {uniform: [1s, 5s]},
// {triangular: [1s, 4s, 6s]} or, where a thing may never happen, never.
type Dist struct {
	Kind DistKind
	// Median and P95 of a lognormal distribution. Median is the value of a fixed one.
	Median, P95 time.Duration
	// Min and Max of a uniform or triangular distribution, Mode of a triangular one.
	Min, Mode, Max time.Duration
}

// A DistKind is the shape of a distribution.
type DistKind string

// The shapes.
const (
	DistFixed      DistKind = "fixed"      // Median, always
	DistLognormal  DistKind = "lognormal"  // Median and P95, with Median ≤ P95
	DistUniform    DistKind = "uniform"    // Min to Max
	DistTriangular DistKind = "triangular" // Min to Max, most often Mode
	DistNever      DistKind = "never"      // of Workload.Stop alone
)

// Model is the distribution to draw from. What never happens takes [MaxDuration].
func (d Dist) Model() model.Dist {
	switch d.Kind {
	case DistLognormal:
		return model.Lognormal(d.Median, d.P95)
	case DistUniform:
		return model.Uniform(d.Min, d.Max)
	case DistTriangular:
		return model.Triangular(d.Min, d.Mode, d.Max)
	case DistNever:
		return model.Fixed(MaxDuration)
	}
	return model.Fixed(d.Median)
}

// Timings are the timings that a file overrides, in its order.
type Timings []Timing

// A Timing is the duration of one step, by a name of model.TimingNames.
type Timing struct {
	Name string
	Dist Dist
}

// Get returns the timing of a name.
func (t Timings) Get(name string) (Dist, bool) {
	for _, timing := range t {
		if timing.Name == name {
			return timing.Dist, true
		}
	}
	return Dist{}, false
}
