//go:build controlplane

package apply_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apply"
	"github.com/nodesim/nodesim/scenarios"
)

// BenchmarkRun writes a simulated roll into a real API server as fast as it
// goes, beside client-go's default of five requests a second.
func BenchmarkRun(b *testing.B) {
	config := testcluster.Shared(b).Config()
	header, events := scenarios.Demo()
	var initial, played, requests float64
	var opening, playing time.Duration
	for b.Loop() {
		p, err := replay.NewPlayer(replay.Events(&header, events), replay.WithSpeed(replay.Max))
		if err != nil {
			b.Fatal(err)
		}
		a, err := apply.New(config, p)
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := a.Open(b.Context()); err != nil {
			b.Fatal(err)
		}
		opened, first := time.Now(), a.Report().Changes
		report, err := a.Run(b.Context())
		if err != nil || len(report.Skipped) > 0 {
			b.Fatal(err, report)
		}
		opening, playing = opening+opened.Sub(began), playing+time.Since(opened)
		initial, played, requests = initial+float64(first), played+float64(report.Changes-first), requests+float64(report.Requests)
		if _, err := a.Cleanup(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(initial/opening.Seconds(), "initial-objects/s")
	b.ReportMetric(played/playing.Seconds(), "events/s")
	b.ReportMetric(requests/(opening+playing).Seconds(), "requests/s")
}
