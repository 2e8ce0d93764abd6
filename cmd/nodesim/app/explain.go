package app

import (
	"github.com/nodesim/nodesim/internal/app/analyse"
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
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		tape, err := f.tape(cmd, args)
		if err != nil {
			return err
		}
		a, lacks, err := f.analyse(tape.Until(cmd.Context()), false)
		if err != nil {
			return err
		}
		if lacks != "" {
			warn(cmd.ErrOrStderr(), "%s: not complete: %s", tape.Name, lacks)
		}
		if format.value == "json" {
			_, err = cmd.OutOrStdout().Write(append(a.AppendJSON(nil), '\n'))
			return err
		}
		return a.Text(cmd.OutOrStdout())
	}
	return cmd
}

// analyse reads a tape to its end, and says what it lacks of a whole one.
func (f *replayFlags) analyse(tape *ui.Tape, series bool) (_ *analysis.Analysis, lacks string, err error) {
	return analyse.Tape(tape, f.scope(), series)
}
