package app

import (
	"github.com/nodesim/nodesim/internal/app/tapefmt"
	"github.com/nodesim/nodesim/internal/ctxread"
	"github.com/nodesim/nodesim/timeline"
	"github.com/spf13/cobra"
)

func newFmt() *cobra.Command {
	var block, lines, jsonl, write bool
	cmd := &cobra.Command{
		Use:   "fmt [FILE]...",
		Short: "Rewrite tapes in another style",
		Long: `Rewrite a tape in another style. Its content stays the same; comments and the
order of an event's members do not.

  --lines   one line per event, the form that record writes (the default)
  --block   one block of YAML per event, to be edited by hand
  --jsonl   JSON lines, the header first, for jq and the like

Without -w the new text of one file, or of standard input, goes to standard
output, uncompressed. With -w files are rewritten in place, each in one step,
with the mode and the compression that they had; an error leaves the file as it
was.`,
		GroupID: "use",
		Example: examples(`
			nodesim fmt --block roll.yaml > edit.yaml
			nodesim fmt -w edit.yaml
			nodesim fmt --jsonl roll.yaml.zst | jq -c 'select(.type == "GAP")'`),
		ValidArgsFunction: completeFiles(-1, tapeEndings...),
	}
	cmd.Flags().BoolVar(&lines, "lines", false, "one line per event (the default)")
	cmd.Flags().BoolVar(&block, "block", false, "one block of YAML per event")
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "JSON lines")
	cmd.Flags().BoolVarP(&write, "write", "w", false, "rewrite files in place")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		style := timeline.StyleLines
		switch {
		case block && jsonl, lines && block, lines && jsonl:
			return usagef("flags --lines, --block and --jsonl: found several: want one of them")
		case block:
			style = timeline.StyleBlock
		case jsonl:
			style = timeline.StyleJSON
		}
		if !write {
			return fmtToOutput(cmd, args, style)
		}
		if len(args) == 0 {
			return usagef("flag --write: found no file to rewrite: want at least one")
		}
		for _, name := range args {
			torn, _, err := tapefmt.InPlace(cmd.Context(), name, style)
			if err != nil {
				return err
			}
			if torn != "" {
				warn(cmd.ErrOrStderr(), "%s: %s", name, torn)
			}
		}
		return nil
	}
	return cmd
}

func fmtToOutput(cmd *cobra.Command, args []string, style timeline.Style) (err error) {
	if len(args) > 1 {
		return usagef("argument %q: want one file, or -w to rewrite several in place", args[1])
	}
	var torn string
	name := "(standard input)"
	if len(args) == 0 || args[0] == "-" {
		torn, err = tapefmt.Stream(cmd.OutOrStdout(), ctxread.Waiting(cmd.Context(), cmd.InOrStdin()), name, style)
	} else {
		name = args[0]
		torn, err = tapefmt.File(cmd.Context(), cmd.OutOrStdout(), name, style)
	}
	if err == nil && torn != "" {
		warn(cmd.ErrOrStderr(), "%s: %s", name, torn)
	}
	return err
}
