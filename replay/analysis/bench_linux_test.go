package analysis_test

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// BenchmarkAnalysis reads tapes of rolls from their bytes and analyses them. The limit is 10 µs of processor time a line, with
// the critical path, the savings and the findings of each roll.
func BenchmarkAnalysis(b *testing.B) {
	for _, input := range []struct {
		name string
		tape func(b *testing.B) []byte
	}{
		{"percentage-1000-nodes", func(b *testing.B) []byte { return percentage(b, "1000", "240") }},
		{"percentage-1000-nodes-30000-pods", func(b *testing.B) []byte { return percentage(b, "1000", "30000") }},
		{"examples-surge", func(b *testing.B) []byte { return example(b, "surge") }},
		{"examples-stuck-drain-force", func(b *testing.B) []byte { return example(b, "stuck-drain-force") }},
	} {
		b.Run(input.name, func(b *testing.B) {
			text := input.tape(b)
			lines := bytes.Count(text, []byte("\n--- "))
			b.ReportAllocs()
			spent := processorTime(b)
			for b.Loop() {
				r, err := timeline.NewReader(bytes.NewReader(text))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := analysis.Tape(r, options(b, r)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime(b)-spent).Nanoseconds())/1e3/float64(b.N*lines), "cpu-µs/line")
		})
	}
}

// percentage is the tape of that scenario with so many nodes and pods.
func percentage(b *testing.B, nodes, pods string) []byte {
	b.Helper()
	s, err := scenarios.Find("percentage")
	if err != nil {
		b.Fatal(err)
	}
	f, err := s.Document.Resolve([]scenarios.Setting{{Name: "nodes", Value: nodes}, {Name: "pods", Value: pods}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	w, err := timeline.NewWriter(&text, f.Header())
	if err != nil {
		b.Fatal(err)
	}
	sim, err := f.Simulate(w.WriteLine)
	if err == nil {
		err = sim.Run()
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	return text.Bytes()
}

func example(b *testing.B, name string) []byte {
	b.Helper()
	text, err := os.ReadFile("../../examples/" + name + ".yaml")
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// processorTime returns what the process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
