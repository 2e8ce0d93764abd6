package ui_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// percentage is the tape of that scenario with so many nodes and pods, and its lines.
func percentage(b *testing.B, nodes, pods string) (tape []byte, lines int) {
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
	sim, err := f.Simulate(func(ev timeline.Event) error { lines++; return w.WriteLine(ev) })
	if err != nil {
		b.Fatal(err)
	}
	if err := sim.Run(); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return text.Bytes(), lines + 1
}

// BenchmarkReplayAtMaxIntoTheFeed reads tapes of rolls from their bytes into the
// feed. The limit is 8 µs of processor time a line; beside it, in the same run, is
// the way of a tape that grows: whole objects, one after the other.
func BenchmarkReplayAtMaxIntoTheFeed(b *testing.B) {
	for _, input := range []struct {
		name string
		tape func() ([]byte, int)
	}{
		{"percentage-1000-nodes", func() ([]byte, int) { return percentage(b, "1000", "240") }},
		{"percentage-1000-nodes-30000-pods", func() ([]byte, int) { return percentage(b, "1000", "30000") }},
		{"examples-surge", func() ([]byte, int) { return example(b, "surge") }},
		{"examples-stuck-drain-force", func() ([]byte, int) { return example(b, "stuck-drain-force") }},
	} {
		b.Run(input.name, func(b *testing.B) {
			text, lines := input.tape()
			b.Run("patches", func(b *testing.B) { intoFeed(b, text, lines, ui.Through) })
			b.Run("whole", func(b *testing.B) { intoFeed(b, text, lines, ui.Follow) })
		})
	}
}

func example(b *testing.B, name string) (tape []byte, lines int) {
	b.Helper()
	text, err := os.ReadFile("../../examples/" + name + ".yaml")
	if err != nil {
		b.Fatal(err)
	}
	return text, bytes.Count(text, []byte("\n--- "))
}

func intoFeed(b *testing.B, text []byte, lines int, way func(context.Context, *timeline.Reader, *ui.Driver) error) {
	b.ReportAllocs()
	spent := processorTime(b)
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
	b.ReportMetric(float64((processorTime(b)-spent).Nanoseconds())/1e3/all, "cpu-µs/line")
	b.ReportMetric(all/b.Elapsed().Seconds(), "lines/s")
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
