package analysis_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/rolltape"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/timeline"
)

// BenchmarkAnalysis reads tapes of rolls from their bytes and analyses them. The limit is 10 µs of processor time a line, with
// the critical path, the savings and the findings of each roll.
func BenchmarkAnalysis(b *testing.B) {
	for _, input := range []struct {
		name string
		tape func(b *testing.B) []byte
	}{
		{"percentage-1000-nodes", func(b *testing.B) []byte { return rolltape.Percentage(b, "1000", "240") }},
		{"percentage-1000-nodes-30000-pods", func(b *testing.B) []byte { return rolltape.Percentage(b, "1000", "30000") }},
		{"examples-surge", func(b *testing.B) []byte { return example(b, "surge") }},
		{"examples-stuck-drain-force", func(b *testing.B) []byte { return example(b, "stuck-drain-force") }},
	} {
		b.Run(input.name, func(b *testing.B) {
			text := input.tape(b)
			lines := rolltape.Lines(text)
			b.ReportAllocs()
			spent := rolltape.ProcessorTime(b)
			for b.Loop() {
				r, err := timeline.NewReader(bytes.NewReader(text))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := analysis.Tape(r, options(b, r)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((rolltape.ProcessorTime(b)-spent).Nanoseconds())/1e3/float64(b.N*lines), "cpu-µs/line")
		})
	}
}

func example(b *testing.B, name string) []byte {
	b.Helper()
	text, err := os.ReadFile("../../examples/" + name + ".yaml")
	if err != nil {
		b.Fatal(err)
	}
	return text
}
