package app

import (
	"encoding/json"
	"io"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/report"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay/analysis/diff"
	"github.com/spf13/cobra"
)

func newDiff() *cobra.Command {
	var threshold, out string
	format := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the rolls of two tapes",
		Long: `Compare the rolls of two tapes: what is longer or shorter in B, and which waits
explain it, by roll, phase, node, workload, budget and finding. The first line
says what changed most. Nodes are compared by their role and the order in which
they were replaced in their group, never by their names.

With --out both rolls are also written side by side, as one HTML file like that of
report, from one begin: differences first, each with its place on both sides.
docs/report.md tells of it.

With --threshold the exit status is 1 where a roll takes longer in B by more than
that, isn't complete though it was in A, or isn't there, and where A has no roll.`,
		GroupID: "use",
		Example: examples(`
			nodesim diff monday.yaml tuesday.yaml
			nodesim diff before.yaml after.yaml --threshold 10%
			nodesim diff before.yaml after.yaml --out diff.html
			nodesim diff before.yaml after.yaml -o json | jq .headline`),
		Args:              arguments(2, 2, "two tapes"),
		ValidArgsFunction: completeFiles(2, tapeEndings...),
	}
	cmd.Flags().VarP(format, "output", "o", "text, or json for programs")
	cmd.Flags().StringVar(&threshold, "threshold", "", "fail where a roll takes longer by more than this `TIME`, or part: 90s, 10%")
	suggest(cmd, "output", format.of...)
	addPage(cmd, &out, "write both rolls side by side to this `FILE` as well, - for standard output and nothing else there")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var most diff.Threshold
		if threshold != "" {
			var err error
			if most, err = diff.ParseThreshold(threshold); err != nil {
				return usagef("flag --threshold %w", err)
			}
		}
		if args[0] == "-" && args[1] == "-" {
			return usagef("arguments - and -: found standard input twice: want two tapes")
		}
		var tapes [2]*ui.Tape
		var sides [2]report.Side
		for i, file := range args {
			tapes[i] = ui.File(file, cmd.InOrStdin()).Until(cmd.Context())
			if out != "" && tapes[i].Streams() {
				return usagef("argument %q: want a file: --out reads each tape twice", file)
			}
		}
		if err := spare(cmd, out, args...); err != nil {
			return err
		}
		for i, tape := range tapes {
			var err error
			if sides[i].Analysis, _, err = analyse.Tape(tape, analyse.Scope{}, true); err != nil {
				return err
			}
		}
		d := diff.Of(sides[0].Analysis, sides[1].Analysis)
		err := sideBySide(cmd, out, d, tapes, sides)
		switch {
		case err != nil || out == "-":
		case format.value == "json":
			err = json.NewEncoder(cmd.OutOrStdout()).Encode(d)
		default:
			err = d.Text(cmd.OutOrStdout())
		}
		if err != nil || threshold == "" {
			return err
		}
		return d.Fails(most)
	}
	return cmd
}

// sideBySide writes the page of two tapes, if it was asked for.
func sideBySide(cmd *cobra.Command, out string, d *diff.Diff, tapes [2]*ui.Tape, sides [2]report.Side) (err error) {
	if out == "" {
		return nil
	}
	for i, tape := range tapes {
		if sides[i].Feed, err = wholeFeed(tape, analyse.Scope{}); err != nil {
			return err
		}
	}
	return writeOut(cmd, out, func(w io.Writer) error { return report.WriteDiff(w, d, sides[0], sides[1]) })
}
