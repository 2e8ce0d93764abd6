package app

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/app/export"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/replay/analysis"
)

// exportFlags are those of export, as they were given.
type exportFlags struct {
	replayFlags
	format, rows  *choice
	out, endpoint string
}

func newExport() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export FILE | --simulate SCENARIO",
		Short: "Write what a tape tells in other tools' formats",
		Long: `Write what a tape tells of its rolls, nodes, pods, workloads and budgets in the
format of another tool:

  perfetto      a trace for ui.perfetto.dev: tracks of groups, nodes and pods
  otlp          OpenTelemetry's spans, one trace a roll, as JSON lines
  openmetrics   durations, refusals and unavailability, for Prometheus
  csv, parquet  a table with a row for each node, pod or wait (--rows)

The same tape gives the same bytes. A FILE that is there is replaced; --out -
writes to standard output. With --otlp-endpoint the spans go to a collector, over
OTLP/HTTP; OTEL_EXPORTER_OTLP_HEADERS in the environment are sent along.
docs/export.md has an example of each format.`,
		GroupID: "use",
		Example: examples(`
			nodesim export roll.yaml --format perfetto --out roll.pftrace
			nodesim export roll.yaml --format otlp --otlp-endpoint http://localhost:4318
			nodesim export --simulate stuck-drain --format openmetrics --out -
			nodesim export roll.yaml.zst --format parquet --rows pods --out pods.parquet`),
		ValidArgsFunction: completeFiles(1, tapeEndings...),
	}
	formats := []string{string(export.Perfetto), string(export.OTLP), string(export.OpenMetrics), string(export.CSV), string(export.Parquet)}
	rows := []string{string(export.Nodes), string(export.Pods), string(export.Waits)}
	f.format, f.rows = newChoice("", formats...), newChoice(rows[0], rows...)
	flags := cmd.Flags()
	flags.Var(f.format, "format", "the format to write (required)")
	flags.Var(f.rows, "rows", "what a table has a row for")
	flags.StringVar(&f.out, "out", "", "the `FILE` to write, - for standard output (required, but with --otlp-endpoint)")
	flags.StringVar(&f.endpoint, "otlp-endpoint", "", "send spans to the collector at this `URL`")
	f.addTape(cmd)
	exclude(cmd, "out", "spans go to a file or to a collector", "otlp-endpoint")
	suggest(cmd, "format", formats...)
	suggest(cmd, "rows", rows...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		tape, err := f.tape(cmd, args)
		if err != nil {
			return err
		}
		if err := f.check(cmd); err != nil {
			return err
		}
		if err := spare(cmd, f.out, f.sources(args)...); err != nil {
			return err
		}
		a, _, err := f.analyse(tape.Until(cmd.Context()), true)
		if err != nil {
			return err
		}
		if !a.Tape.Complete {
			warn(cmd.ErrOrStderr(), "%s: not complete: what the tape lacks is not in the export", tape.Name)
		}
		if f.endpoint != "" {
			return f.send(cmd, a)
		}
		return writeOut(cmd, f.out, func(w io.Writer) error {
			return export.Write(w, a, export.Format(f.format.value), export.Rows(f.rows.value))
		})
	}
	return cmd
}

func (f *exportFlags) check(cmd *cobra.Command) error {
	format := export.Format(f.format.value)
	switch {
	case format == "":
		return usagef("flag --format: found none: want %s", f.format.Type())
	case f.endpoint != "" && format != export.OTLP:
		return usagef("flag --otlp-endpoint: takes spans, and no %s: want --format otlp", format)
	case f.endpoint == "" && f.out == "":
		return usagef("flag --out: found none: want the name of the file to write, or - for standard output")
	case cmd.Flags().Changed("rows") && format != export.CSV && format != export.Parquet:
		return usagef("flag --rows: is of tables: want --format csv or parquet with it")
	case f.out == "-" && (format == export.Perfetto || format == export.Parquet) && terminal.Is(cmd.OutOrStdout()):
		return usagef("flag --out -: a terminal can't show %s: want a file or a pipe", format)
	}
	return nil
}

// send sends spans to a collector.
func (f *exportFlags) send(cmd *cobra.Command, a *analysis.Analysis) error {
	to, err := export.TracesURL(f.endpoint)
	if err != nil {
		return usagef("flag --otlp-endpoint %q: %w", export.Redacted(f.endpoint), err)
	}
	header, err := export.Headers(os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
	if err != nil {
		return usagef("environment variable OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	c := export.Collector{URL: to, Header: header, Client: export.Client(), Clock: clock.RealClock{}}
	n, err := c.Send(cmd.Context(), a)
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "sent %d spans to %s\n", n, export.Redacted(to))
	}
	return err
}
