package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/tapetest"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/spf13/cobra"
)

func newTest() *cobra.Command {
	var update, verbose bool
	var junit, summary, annotations string
	var names []string
	cmd := &cobra.Command{
		Use:   "test [PATH]...",
		Short: "Compare tapes with their golden files and policies",
		Long: `Compare tapes with their golden files and policies. A PATH is a tape, or a folder in which all
tapes are found, at any depth; without one it is the working directory.

Beside a tape roll.yaml (or .yaml.gz, .yaml.zst, .jsonl) are
  roll.feed.golden    the feed, as nodesim replay roll.yaml prints it
  roll.panel.golden   panels of 80x24 as plain text: of the first eight moments
                      with an entry in the feed, then of every second one eight
                      times, every fourth and so on, and of the last one
Each moment has a line "=== T+1m32.412s" above them. A tape that
isn't complete fails, unless its feed.golden ends in the line that says so.
Golden files without a tape fail as well.

A policy roll.policy.yaml beside the tape, and those of --policy, are what it is
held against: docs/policy.md says how they are written. A tape with a policy needs
no golden files.

--update writes the golden files; read the change before you commit it. Where CI
is set that is refused.`,
		GroupID: "use",
		Example: examples(`
			nodesim test
			nodesim test testdata/tapes --junit report.xml
			nodesim test testdata/tapes --policy budgets-kept --summary summary.md
			nodesim test --update testdata/tapes/roll.yaml`),
		ValidArgsFunction: completeFiles(-1, tapeEndings...),
	}
	cmd.Flags().BoolVar(&update, "update", false, "write the golden files in place of comparing")
	cmd.Flags().StringVar(&junit, "junit", "", "write a report in JUnit's XML to `FILE`")
	cmd.Flags().StringVar(&summary, "summary", "", "write a report in Markdown to `FILE`")
	cmd.Flags().StringVar(&annotations, "annotations", "", "write what failed to `FILE` as commands of GitHub Actions, which show it in the pull request")
	addPolicies(cmd, &names, "hold every tape against this `POLICY`, a file or one that comes with nodesim; may be repeated")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show tapes that pass as well")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if ci := os.Getenv("CI"); update && isSet(ci) {
			return usagef("flag --update: found CI=%s: want a machine where a person reads the change", ci)
		}
		if len(args) == 0 {
			args = []string{"."}
		}
		policies, err := analyse.Policies(names)
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		rep, err := tapetest.Run(cmd.Context(), tapetest.Options{
			Paths: args, Policies: policies, Update: update, Command: "nodesim test --update", Now: time.Now,
			Done: func(r tapetest.Result) { r.Print(out, verbose) },
		})
		if err != nil {
			return err
		}
		fmt.Fprintln(out, rep.Summary())
		if err := errors.Join(writeReport(junit, rep.JUnit), writeReport(summary, rep.Markdown), writeReport(annotations, rep.Annotations)); err != nil {
			return err
		}
		if rep.Failed > 0 {
			return &exitError{code: exitFailed}
		}
		return nil
	}
	return cmd
}

// addPolicies adds the flag --policy.
func addPolicies(cmd *cobra.Command, names *[]string, does string) {
	cmd.Flags().StringArrayVar(names, "policy", nil, does)
	_ = cmd.RegisterFlagCompletionFunc("policy", func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		var all []string
		for _, name := range policy.Shipped() {
			if strings.HasPrefix(name, word) {
				all = append(all, name)
			}
		}
		return all, cobra.ShellCompDirectiveDefault
	})
}

// writeReport writes a report to a file, if there is one to write.
func writeReport(name string, report func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return errors.Join(report(f), f.Close())
}

// isSet reads a variable as build services write them: any value is yes,
// except those that plainly mean no.
func isSet(value string) bool {
	if on, err := strconv.ParseBool(value); err == nil {
		return on
	}
	return value != ""
}
