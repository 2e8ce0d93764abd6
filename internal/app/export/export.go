package export

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/analysis"
)

// Format is a format to write.
type Format string

// The formats.
const (
	Perfetto    Format = "perfetto"    // a trace for ui.perfetto.dev and trace_processor
	OTLP        Format = "otlp"        // spans as JSON lines, as OpenTelemetry's file exporter writes them
	OpenMetrics Format = "openmetrics" // figures for Prometheus
	CSV         Format = "csv"         // RFC 4180
	Parquet     Format = "parquet"
)

// Rows are what a table has a row for.
type Rows string

// The rows.
const (
	Nodes Rows = "nodes" // a row for each node's life
	Pods  Rows = "pods"  // a row for each pod's life
	Waits Rows = "waits" // a row for each thing that a node waited for
)

// Write writes an analysis, made with its series, in a format. Only tables have rows.
func Write(w io.Writer, a *analysis.Analysis, format Format, rows Rows) error {
	switch format {
	case Perfetto:
		return writePerfetto(w, a)
	case OTLP:
		return writeOTLP(w, a)
	case OpenMetrics:
		return writeOpenMetrics(w, a)
	case CSV:
		return writeCSV(w, tableOf(a, rows))
	case Parquet:
		return writeParquet(w, tableOf(a, rows))
	}
	return fmt.Errorf("format %q: want perfetto, otlp, openmetrics, csv or parquet", format)
}

// epoch is the tape's beginning in nanoseconds since 1970; ok is false where the tape doesn't say, or says a time that 64 bits
// don't hold.
func epoch(a *analysis.Analysis) (ns int64, ok bool) {
	start := a.Tape.Start
	if start.Before(time.Unix(0, 1)) || start.After(time.Unix(0, math.MaxInt64).Add(-a.Tape.Duration)) {
		return 0, false
	}
	return start.UnixNano(), true
}

func text(s string) string { return noderoll.OneLine(s) }

func texts(all []string) []string {
	var out []string
	for _, s := range all {
		out = append(out, text(s))
	}
	return out
}

func seconds(d time.Duration) float64 { return float64(d) / float64(time.Second) }

// rolled is what a roll replaces: the nodes of a group, or pods.
func rolled(r analysis.Roll) string {
	if r.Pods != "" {
		return text(r.Pods)
	}
	return orElse(r.Group, "(none)")
}

// orElse is a text, or what to say where there is none.
func orElse(s, none string) string {
	if s = text(s); s == "" {
		return none
	}
	return s
}
