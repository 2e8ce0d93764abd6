package main

import (
	"errors"
	"fmt"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/spf13/cobra"
)

func newExplain() *cobra.Command {
	var f replayFlags
	format := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "explain FILE | --simulate SCENARIO",
		Short: "Say what took how long in a roll, and what held it up",
		Long: `Say what took how long in the rolls of a tape, and what held them up: first what was
found, the most expensive first, each with the lines of the tape that prove it; then
each roll with its critical path, and by how much it would have been shorter without
each wait; then nodes, workloads and budgets.

Times are positions on the tape. docs/explain.md says what each number means.`,
		GroupID: "use",
		Example: examples(`
			nodesim explain roll.yaml
			nodesim explain --simulate stuck-drain
			nodesim explain roll.yaml --nodegroup spot-burst
			nodesim explain roll.yaml -o json | jq '.findings[0]'`),
		ValidArgsFunction: completeFiles(1, tapeEndings...),
	}
	f.addTape(cmd)
	cmd.Flags().VarP(format, "output", "o", "text, or json for programs")
	suggest(cmd, "output", format.of...)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		tape, err := f.tape(cmd, args)
		if err != nil {
			return err
		}
		a, err := f.analyse(tape, false)
		if err != nil {
			return err
		}
		if !a.Tape.Complete {
			warn(cmd.ErrOrStderr(), "%s: not complete: it ends without END, and what came after its last line isn't known", tape.Name)
		}
		if format.value == "json" {
			_, err = cmd.OutOrStdout().Write(append(a.AppendJSON(nil), '\n'))
			return err
		}
		return a.Text(cmd.OutOrStdout())
	}
	return cmd
}

// analyse reads a tape to its end.
func (f *replayFlags) analyse(tape *ui.Tape, series bool) (_ *analysis.Analysis, err error) {
	r, err := tape.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o, err := f.observed(tape, r.Header())
	if err != nil {
		return nil, err
	}
	a, err := analysis.Tape(r, analysis.Options{Options: o, Series: series})
	if unmatched := (*analysis.UnmatchedError)(nil); errors.As(err, &unmatched) {
		err = fmt.Errorf("tape %s: %w", tape.Name, err)
	}
	return a, err
}
