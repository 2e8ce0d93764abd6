package scenarios_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// simulate simulates a file again and again, its tape written to nowhere.
func simulate(b *testing.B, name string, set ...scenarios.Setting) {
	b.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	lines, bytes := 0, 0
	for b.Loop() {
		f, err := s.Document.Resolve(set, nil)
		if err != nil {
			b.Fatal(err)
		}
		var count counter
		w, err := timeline.NewWriter(&count, f.Header())
		if err != nil {
			b.Fatal(err)
		}
		lines = 0
		sim, err := f.Simulate(func(ev timeline.Event) error { lines++; return w.WriteLine(ev) })
		if err != nil {
			b.Fatal(err)
		}
		if err := sim.Run(); err != nil {
			b.Fatal(err)
		}
		bytes = int(count)
	}
	b.ReportMetric(float64(lines), "lines/op")
	b.ReportMetric(float64(bytes), "tape-B/op")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(lines), "ns/line")
}

// A counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// BenchmarkSurge is a roll of six nodes, which has to be there at once: 20 ms.
func BenchmarkSurge(b *testing.B) { simulate(b, "surge") }

// BenchmarkPercentage rolls larger and larger groups. The time of a line stays
// about the same: the cost grows with the tape, and the tape with the nodes.
func BenchmarkPercentage(b *testing.B) {
	for _, nodes := range []int{100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			simulate(b, "percentage",
				scenarios.Setting{Name: "nodes", Value: strconv.Itoa(nodes)},
				scenarios.Setting{Name: "pods", Value: strconv.Itoa(30 * nodes)})
		})
	}
}
