package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/report"
	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/spf13/cobra"
)

func newReport() *cobra.Command {
	var f replayFlags
	var out string
	cmd := &cobra.Command{
		Use:   "report FILE | --simulate SCENARIO",
		Short: "Make the picture of a roll, one HTML file",
		Long: `Make the picture of a roll: one HTML file that any browser opens, without a
network. It shows nodes by group over time with their phases and what held their
drains, their pods, what budgets allowed and what workloads had available, the
feed, gaps and markers, and findings that lead to their place.

In the page, ? lists all keys: / searches, + and - zoom, f goes to the next
finding, v shows the nodes as a table. docs/report.md is a walk through a roll.

An existing FILE is written anew; --out - writes to standard output.`,
		GroupID: "use",
		Example: examples(`
			nodesim report roll.yaml --out roll.html
			nodesim report roll.yaml --nodegroup spot-burst --out roll.html
			nodesim report --simulate stuck-drain --out stuck.html`),
		ValidArgsFunction: completeFiles(1, tapeEndings...),
	}
	f.addTape(cmd)
	addPage(cmd, &out, "the `FILE` to write, - for standard output (required)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		tape, err := f.tape(cmd, args)
		switch {
		case err != nil:
			return err
		case out == "":
			return usagef("flag --out: found none: want the name of the page to write, such as roll.html")
		case tape.Streams():
			return usagef("argument %q: want a file: a report reads its tape twice", args[0])
		}
		if err := spare(cmd, out, f.sources(args)...); err != nil {
			return err
		}
		return f.report(cmd, tape, out)
	}
	return cmd
}

// report reads the tape twice, for its analysis and for its feed, writes the page, and says what is in it.
func (f *replayFlags) report(cmd *cobra.Command, tape *ui.Tape, out string) error {
	write, a, lacks, err := f.page(tape.Until(cmd.Context()))
	if err != nil {
		return err
	}
	if lacks != "" {
		warn(cmd.ErrOrStderr(), "%s: not complete: %s", tape.Name, lacks)
	}
	if err := writeOut(cmd, out, write); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s, %s, %s\n", noderoll.OneLine(nameOut(out)),
		phrase.Count(len(a.Nodes), "node"), phrase.Count(len(a.Rolls), "roll"), phrase.Count(len(a.Findings), "finding"))
	return nil
}

// page is what writes the report of a tape, its analysis, and what the tape lacks of a whole one.
func (f *replayFlags) page(tape *ui.Tape) (write func(io.Writer) error, a *analysis.Analysis, lacks string, err error) {
	a, lacks, err = f.analyse(tape, true)
	if err != nil {
		return nil, nil, "", err
	}
	feed, err := wholeFeed(tape, f.scope())
	if err != nil {
		return nil, nil, "", err
	}
	return func(w io.Writer) error { return report.Write(w, a, feed) }, a, lacks, nil
}

// addPage defines the flag for the page to write.
func addPage(cmd *cobra.Command, out *string, says string) {
	cmd.Flags().StringVar(out, "out", "", says)
	_ = cmd.RegisterFlagCompletionFunc("out", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"html"}, cobra.ShellCompDirectiveFilterFileExt
	})
}

// sources are the files that are read: the tape, or what it is made of.
func (f *replayFlags) sources(args []string) []string {
	return append(slices.Clone(args), f.scenario.word, f.scenario.timings)
}

// spare refuses to replace a tape, or another file, by what is made of it.
func spare(cmd *cobra.Command, file string, sources ...string) error {
	out, err := os.Stat(file)
	if there := err == nil && out.Mode().IsRegular(); !there {
		return nil
	}
	for _, source := range sources {
		in, err := os.Stat(source)
		if stdin, ok := cmd.InOrStdin().(*os.File); ok && source == "-" {
			in, err = stdin.Stat()
		}
		if err == nil && os.SameFile(in, out) {
			return usagef("flag --out: found %s itself, which is read: want another file", source)
		}
	}
	return nil
}

// writeOut writes a file whole or not at all, or to standard output. A link stays one, as do the permissions of a file that is there;
// what isn't a regular file, such as a pipe, is written to.
func writeOut(cmd *cobra.Command, out string, write func(io.Writer) error) error {
	if out == "-" {
		return write(cmd.OutOrStdout())
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	if is, err := os.Stat(out); err == nil && !is.Mode().IsRegular() {
		file, err := os.OpenFile(out, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.Write(text.Bytes())
		return errors.Join(err, file.Close())
	}
	if to, err := filepath.EvalSymlinks(out); err == nil {
		out = to
	}
	return atomicfile.Update(out, text.String())
}

// wholeFeed is the feed of a tape, entries of every kind.
func wholeFeed(tape *ui.Tape, scope analyse.Scope) (_ []report.Line, err error) {
	r, err := tape.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o, err := scope.Options(tape, r.Header())
	if err != nil {
		return nil, err
	}
	o.Verbose = true
	return report.Feed(r, o)
}

// reads lets a panel ask for what is read from the whole tape: its findings, and its report. A tape that can be read once
// is being played.
func (f *replayFlags) reads(t *ui.Terminal, cmd *cobra.Command, tape *ui.Tape) {
	if tape.Streams() {
		t.Findings = func(context.Context) ([]player.Finding, error) {
			return nil, errors.New("findings: want a tape in a file, which can be read a second time")
		}
		return
	}
	t.Findings = func(ctx context.Context) ([]player.Finding, error) {
		a, _, err := f.analyse(tape.Until(ctx), false)
		if err != nil {
			return nil, err
		}
		found := make([]player.Finding, len(a.Findings))
		for i := range a.Findings {
			is := &a.Findings[i]
			found[i] = player.Finding{At: is.From.At, Node: is.Node, Text: is.Text}
		}
		return found, nil
	}
	name, _, _ := strings.Cut(filepath.Base(strings.TrimPrefix(tape.Name, "scenario ")), ".")
	t.ReportName = cmp.Or(name, "roll") + ".html"
	t.Report = func(_ context.Context, file string) error {
		if file == "-" {
			return errors.New("report: want the name of a file: the panel is on the terminal")
		}
		if _, err := os.Stat(file); err == nil && filepath.Ext(file) != ".html" {
			return fmt.Errorf("report: %s is there already: want another name, or one that ends in .html", file)
		}
		if spare(cmd, file, tape.Name) != nil {
			return fmt.Errorf("report: %s is the tape itself: want another name", file)
		}
		write, _, _, err := f.page(tape.Until(cmd.Context())) // which is finished though the panel ends
		if err != nil {
			return err
		}
		return writeOut(cmd, file, write)
	}
}
