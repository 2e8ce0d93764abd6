package main

import (
	"errors"

	"github.com/nodesim/nodesim/internal/inspect"
	"github.com/nodesim/nodesim/internal/show"
	"github.com/nodesim/nodesim/timeline"
	"github.com/spf13/cobra"
)

func newInspect() *cobra.Command {
	var check bool
	format := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Tell what is on a tape",
		Long: `Tell what is on a tape: how long it is, whether it is complete, where it has
gaps, how many events of each resource there are, and which rolls it shows.

The tape is read as lines, which takes seconds for a gigabyte. With --check
every object is put together and a tape that is bad or not complete fails.`,
		GroupID: "use",
		Example: examples(`
			nodesim inspect roll.yaml
			nodesim inspect roll.yaml.zst -o json | jq .rolls
			nodesim inspect --check roll.yaml`),
		Args:              arguments(1, 1, "one tape"),
		ValidArgsFunction: completeFiles(1, tapeEndings...),
	}
	cmd.Flags().VarP(format, "output", "o", "text, or json for programs")
	cmd.Flags().BoolVar(&check, "check", false, "fail unless every object can be read and the tape is complete")
	suggest(cmd, "output", format.of...)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		tape := show.File(args[0], cmd.InOrStdin())
		opts := []timeline.ReadOption{timeline.Lines()}
		if check {
			opts = nil
		}
		r, err := tape.Reader(opts...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		rep, bad := inspect.Tape(r)
		if bad != nil {
			return bad
		}
		if format.value == "json" {
			_, err = cmd.OutOrStdout().Write(rep.JSON())
		} else {
			err = rep.Text(cmd.OutOrStdout())
		}
		if err == nil && check && !rep.Complete {
			return notWhole(tape.Name, r)
		}
		return err
	}
	return cmd
}
