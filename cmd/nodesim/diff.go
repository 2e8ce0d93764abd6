package main

import (
	"encoding/json"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/replay/analysis/diff"
	"github.com/spf13/cobra"
)

func newDiff() *cobra.Command {
	var threshold string
	format := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the rolls of two tapes",
		Long: `Compare the rolls of two tapes: what is longer or shorter in B, and which waits
explain it, by roll, phase, node, workload, budget and finding. The first line
says what changed most. Nodes are compared by their role and the order in which
they were replaced in their group, never by their names.

With --threshold the exit status is 1 where a roll takes longer in B by more than
that, isn't complete though it was in A, or isn't there, and where A has no roll.`,
		GroupID: "use",
		Example: examples(`
			nodesim diff monday.yaml tuesday.yaml
			nodesim diff before.yaml after.yaml --threshold 10%
			nodesim diff before.yaml after.yaml -o json | jq .headline`),
		Args:              arguments(2, 2, "two tapes"),
		ValidArgsFunction: completeFiles(2, tapeEndings...),
	}
	cmd.Flags().VarP(format, "output", "o", "text, or json for programs")
	cmd.Flags().StringVar(&threshold, "threshold", "", "fail where a roll takes longer by more than this `TIME`, or part: 90s, 10%")
	suggest(cmd, "output", format.of...)
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
		a, err := analyse.File(args[0], cmd.InOrStdin(), analyse.Pods{}, true)
		if err != nil {
			return err
		}
		b, err := analyse.File(args[1], cmd.InOrStdin(), analyse.Pods{}, true)
		if err != nil {
			return err
		}
		d := diff.Of(a, b)
		if format.value == "json" {
			err = json.NewEncoder(cmd.OutOrStdout()).Encode(d)
		} else {
			err = d.Text(cmd.OutOrStdout())
		}
		if err != nil || threshold == "" {
			return err
		}
		return d.Fails(most)
	}
	return cmd
}
