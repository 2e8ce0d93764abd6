package ui_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/rolltape"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// BenchmarkReplayAtMaxIntoTheFeed reads tapes of rolls from their bytes into the
// feed. The limit is 8 µs of processor time a line; beside it, in the same run, is
// the way of a tape that grows: whole objects, one after the other.
func BenchmarkReplayAtMaxIntoTheFeed(b *testing.B) {
	for _, input := range []struct {
		name string
		tape func() []byte
	}{
		{"percentage-1000-nodes", func() []byte { return rolltape.Percentage(b, "1000", "240") }},
		{"percentage-1000-nodes-30000-pods", func() []byte { return rolltape.Percentage(b, "1000", "30000") }},
		{"examples-surge", func() []byte { return example(b, "surge") }},
		{"examples-stuck-drain-force", func() []byte { return example(b, "stuck-drain-force") }},
	} {
		b.Run(input.name, func(b *testing.B) {
			text := input.tape()
			lines := rolltape.Lines(text)
			b.Run("patches", func(b *testing.B) { intoFeed(b, text, lines, ui.Through) })
			b.Run("whole", func(b *testing.B) { intoFeed(b, text, lines, ui.Follow) })
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

func intoFeed(b *testing.B, text []byte, lines int, way func(context.Context, *timeline.Reader, *ui.Driver) error) {
	b.ReportAllocs()
	spent := rolltape.ProcessorTime(b)
	for b.Loop() {
		r, err := timeline.NewReader(bytes.NewReader(text))
		if err != nil {
			b.Fatal(err)
		}
		o, err := observe.OptionsFor(r.Header(), "", "", "")
		if err != nil {
			b.Fatal(err)
		}
		view := ui.NewView(r.Header(), o)
		view.FeedOnly = true // as nodesim replay -o feed
		if err := way(b.Context(), r, ui.NewDriver(view, ui.NewFeedWriter(io.Discard))); err != nil {
			b.Fatal(err)
		}
	}
	all := float64(b.N * lines)
	b.ReportMetric(float64((rolltape.ProcessorTime(b)-spent).Nanoseconds())/1e3/all, "cpu-µs/line")
	b.ReportMetric(all/b.Elapsed().Seconds(), "lines/s")
}
