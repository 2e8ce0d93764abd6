package scenarios

import "time"

// A Dist is how long something takes: a distribution of durations, as a file
// says it. Nothing is drawn here.
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

// Timings are the timings that a file overrides, in its order.
type Timings []Timing

// A Timing is how long one named step takes.
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
