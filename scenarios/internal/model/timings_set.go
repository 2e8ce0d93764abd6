package model

import (
	"fmt"
	"time"
)

// timing is one row of the table of Timings.
type timing struct {
	name     string
	of       func(*Timings) *Dist
	doc      string
	evidence string
	usual    Dist
	// unusual has what other providers and operating systems take. The first row that fits counts.
	unusual []unusual
}

// unusual is a duration of some machines: those of a provider, of an operating system, or both. Empty means any.
type unusual struct {
	provider Provider
	os       OS
	takes    Dist
}

// TimingName documents one duration of Timings.
type TimingName struct {
	// Name is the timing's name in a scenario file and in Set: the field of Timings with a small first letter.
	Name string
	// Doc says from what to what it lasts.
	Doc string
	// Evidence says where the default is known from: a measurement, a source file, documentation, or "estimate".
	Evidence string
	// Default is the value of most providers and operating systems.
	Default Dist
}

var timingTables = [][]timing{cloudTimings, nodeTimings, podTimings, controlTimings, rollTimings}

// DefaultTimings returns the durations of a provider's nodes with an operating system. An unknown provider or system has
// the usual ones.
func DefaultTimings(provider Provider, os OS) Timings {
	var out Timings
	for _, table := range timingTables {
		for _, row := range table {
			*row.of(&out) = row.takes(provider, os)
		}
	}
	return out
}

func (row timing) takes(provider Provider, os OS) Dist {
	for _, other := range row.unusual {
		if (other.provider == "" || other.provider == provider) && (other.os == "" || other.os == os) {
			return other.takes
		}
	}
	return row.usual
}

// For returns t with what depends on the version of Kubernetes: the grace of the node lifecycle controller.
func (t Timings) For(v Version) Timings {
	t.MonitorGrace = Fixed(v.MonitorGrace())
	return t
}

// Set replaces the duration of that name. The error of an unknown name says only that: TimingNames has what to suggest.
func (t *Timings) Set(name string, d Dist) error {
	for _, table := range timingTables {
		for _, row := range table {
			if row.name == name {
				*row.of(t) = d
				return nil
			}
		}
	}
	return fmt.Errorf("timing %q: no duration has this name", name)
}

// Get returns the duration of that name, and whether there is one.
func (t *Timings) Get(name string) (Dist, bool) {
	for _, table := range timingTables {
		for _, row := range table {
			if row.name == name {
				return *row.of(t), true
			}
		}
	}
	return Dist{}, false
}

// TimingNames returns all durations by name: those of the cloud first, then the node's, the pod's, the control plane's
// and the roller's.
func TimingNames() []TimingName {
	var out []TimingName
	for _, table := range timingTables {
		for _, row := range table {
			out = append(out, TimingName{Name: row.name, Doc: row.doc, Evidence: row.evidence, Default: row.usual})
		}
	}
	return out
}

// PullBytesPerSecond is the speed of a pull: 40 MB/s, an estimate for a container registry in the machine's own
// region.
const PullBytesPerSecond = 40_000_000

// PullTransfer returns the time that the size of an image adds to ImagePull.
func PullTransfer(bytes int64) time.Duration {
	const perMillisecond = PullBytesPerSecond / 1000
	return time.Duration(bounded(time.Duration(min(max(bytes, 0)/perMillisecond, int64(longest/time.Millisecond))) * time.Millisecond))
}
