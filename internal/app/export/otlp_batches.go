package export

import (
	"bufio"
	"io"
	"slices"

	"github.com/nodesim/nodesim/replay/analysis"
)

// mostSpans is the number of spans of one message, as OpenTelemetry's own batches have it (OTEL_BSP_MAX_EXPORT_BATCH_SIZE, 512,
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/): receivers refuse more than 20 MiB.
const mostSpans = 512

// writeOTLP writes a message a line, as the collector's file exporter does by default
// (https://github.com/open-telemetry/opentelemetry-collector-contrib, exporter/fileexporter/README.md, "File Format").
func writeOTLP(w io.Writer, a *analysis.Analysis) error {
	all, err := spans(a)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	for some := range slices.Chunk(all, mostSpans) {
		line, err := otlpJSON(a, some)
		if err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// resource are the attributes that all spans of a tape have.
func resource(a *analysis.Analysis) []attribute {
	return attributes{
		{"service.name", "nodesim"}, {"nodesim.tape", a.Tape.Name}, {"nodesim.source", a.Tape.Source}, {"nodesim.provider", a.Tape.Provider},
	}.present()
}

// scope is the name of what makes the spans.
const scope = "github.com/nodesim/nodesim"
