// Package export writes the analysis of a tape in the formats of other tools: Perfetto's trace, OpenTelemetry's spans,
// OpenMetrics, and tables as CSV and Parquet. An analysis with its series goes in ([analysis.Options]), bytes come out, the
// same ones every time. It computes nothing anew: every number is the analysis's, or a count or sum of such.
//
// Whatever is on a tape is hostile. Text goes through [noderoll.OneLine] in every format, so that the tools that show it,
// and a terminal, get one line without control characters.
package export
