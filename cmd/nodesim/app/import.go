package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/recorder"
	"github.com/spf13/cobra"
)

func newImport() *cobra.Command {
	var out, name string
	var full bool
	var scope scopeFlags
	cmd := &cobra.Command{
		Use:   "import RAW --out FILE",
		Short: "Make a tape of what another program has recorded",
		Long: `Make a tape of what another program has recorded. RAW is a file, a folder,
or - for standard input. Its format is found out by its content:

  the audit log of an API server, also as EKS, GKE and AKS export it
  recordings of kwokctl, archives of k8shark, traces of SimKube
  what must-gather or kubectl cluster-info dump has kept: a folder or a tar
  what kubectl get … --watch -o json --output-watch-events prints
  what kubectl get … -o json prints
  {"t": arrival time, "resource": plural, "event": watch event}, one per line

The last three may stand one after the other. docs/import.md says what each
format has and what it lacks.

Without arrival times, the newest time inside of each object is used as its
arrival, and the tape says that its times are derived. Objects are redacted as
record does it. An existing FILE is refused.

A kubectl that watches into a pipe is ended by ctrl-c: what it has written till
then goes on the tape.`,
		GroupID: "make",
		Example: examples(`
			nodesim import audit.log --out roll.yaml --nodegroup workers
			nodesim import must-gather/ --out state.yaml
			kubectl get nodes --watch -o json --output-watch-events | nodesim import - --out nodes.yaml.zst`),
		Args:              arguments(1, 1, "one file or folder"),
		ValidArgsFunction: completeFiles(1, "jsonl", "json", "log", "yaml", "tar", "gz", "kshrk", "sktrace"),
	}
	flags := cmd.Flags()
	outFlag(cmd, &out)
	flags.StringVar(&name, "name", "", "`NAME` of the tape (default: the name of FILE)")
	flags.BoolVar(&full, "full", false, "keep whole objects, but for managedFields; Secrets stay refused, and credentials of known shapes masked")
	scope.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := errors.Join(needOut(out), scope.check()); err != nil {
			return err
		}
		in := cmd.InOrStdin()
		input := "(standard input)"
		// ctrl-c ends whatever writes the pipe as well: what has come till then is the dump.
		ctx := context.WithoutCancel(cmd.Context())
		if args[0] != "-" {
			ctx = cmd.Context()
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }() // it was only read
			in, input = f, args[0]
		}
		o := recorder.ImportOptions{Input: input, Name: nameOf(name, out), Scope: scope.scope(), Full: full}
		var sum recorder.Summary
		var err error
		if info, _ := os.Stat(args[0]); args[0] != "-" && info != nil && info.IsDir() {
			sum, err = record.ImportFolder(ctx, args[0], out, o)
		} else {
			sum, err = record.Import(ctx, in, out, o)
		}
		if err != nil {
			return err
		}
		record.Summarize(cmd.ErrOrStderr(), out, sum)
		return gapsIn(out, sum)
	}
	return cmd
}

// outFlag adds the flag that every verb has that makes a tape.
func outFlag(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVar(out, "out", "", "the `FILE` to write; .gz and .zst are compressed (required)")
	_ = cmd.RegisterFlagCompletionFunc("out", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return tapeEndings, cobra.ShellCompDirectiveFilterFileExt
	})
}

func needOut(out string) error {
	switch out {
	case "":
		return usagef("flag --out: found none: want the name of the tape to write")
	case "-":
		return usagef("flag --out -: want a file: a tape is written so that it survives any end of the program")
	}
	return nil
}

// nameOf is the name of a tape: the one that was given, or the file's without
// its endings.
func nameOf(given, file string) string {
	if given != "" {
		return given
	}
	base := filepath.Base(file)
	for {
		ext := filepath.Ext(base)
		switch ext {
		case ".gz", ".zst", ".yaml", ".yml":
			base = base[:len(base)-len(ext)]
			continue
		}
		return base
	}
}

// gapsIn is the error of a tape with gaps.
func gapsIn(file string, sum recorder.Summary) error {
	if sum.Gaps == 0 {
		return nil
	}
	return &exitError{exitGaps, gapsError(file, sum.Gaps)}
}
