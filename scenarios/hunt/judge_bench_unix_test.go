//go:build unix

package hunt_test

import (
	"context"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
)

// BenchmarkSurge judges the roll of surge with other seeds by all invariants: 500 rolls a second of a core. How many years of a cluster that
// is in a day of a core is the same figure, stated for people.
func BenchmarkSurge(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as nodesim hunt
	f := *shipped(b, "surge")
	judge := hunt.Simulated(nil)
	var simulated time.Duration
	b.ReportAllocs()
	began := cpuTime(b)
	for b.Loop() {
		f.Seed++
		o, err := judge(context.Background(), &f)
		if err != nil || len(o.Failures) > 0 {
			b.Fatal(err, o.Failures)
		}
		simulated += o.Simulated
	}
	core := cpuTime(b) - began
	b.ReportMetric(float64(b.N)/core.Seconds(), "rolls/core-s")
	b.ReportMetric(simulated.Hours()/24/365.25/(core.Hours()/24), "cluster-years/core-day")
}

// cpuTime is the processor time of the whole process, garbage collection included. It holds on a machine that does other things as well.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCases judges the cases of a hunt.
func BenchmarkCases(b *testing.B) {
	space := variant.NewSpace(variant.Config{File: shipped(b, "surge"), Seed: 1})
	judge := hunt.Simulated(nil)
	number := uint64(0)
	for b.Loop() {
		number++
		if _, err := judge(context.Background(), space.Case(1, number)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rolls/s")
}
