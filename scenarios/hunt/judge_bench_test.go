package hunt_test

import (
	"context"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/scenarios/spec"
)

func shipped(t testing.TB, name string) *spec.File {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &f.File
}

// BenchmarkSurge judges the roll of surge with other seeds by all invariants: 500 rolls a second and core. A year of a cluster in a
// day of a core is as much.
func BenchmarkSurge(b *testing.B) {
	f := *shipped(b, "surge")
	judge := hunt.Simulated(nil)
	var simulated time.Duration
	b.ReportAllocs()
	for b.Loop() {
		f.Seed++
		o, err := judge(context.Background(), &f)
		if err != nil || len(o.Failures) > 0 {
			b.Fatal(err, o.Failures)
		}
		simulated += o.Simulated
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rolls/s")
	b.ReportMetric(simulated.Hours()/24/365.25/(b.Elapsed().Hours()/24), "cluster-years/core-day")
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
