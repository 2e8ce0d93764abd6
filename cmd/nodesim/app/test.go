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
	var names []string
	var reports reportFlags
	var stored testStoreFlags
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
is set that is refused.

--store tests the tapes that record --daemon has brought to a store. They have no
golden files: each is held against its checksum and description, against what every
cluster obeys (as inspect --check does), and against the policies of --policy.
--shard 2/8 tests an eighth of them; nodesim test merge puts the results of all shards
together, and nodesim test manifest prints a Kubernetes Job that runs them. A folder
that is called merge or manifest is ./merge or ./manifest. docs/store.md has more.`,
		GroupID: "use",
		Example: examples(`
			nodesim test
			nodesim test testdata/tapes --junit report.xml
			nodesim test testdata/tapes --policy budgets-kept --summary summary.md
			nodesim test --update testdata/tapes/roll.yaml
			nodesim test --store file:///srv/tapes --since 24h --policy no-stuck-roll
			nodesim test manifest --store file:///srv/tapes --claim tapes --shards 8 --image registry.example/nodesim:v1 | kubectl apply --server-side -f -`),
		ValidArgsFunction: completeFiles(-1, tapeEndings...),
	}
	cmd.Flags().BoolVar(&update, "update", false, "write the golden files in place of comparing")
	reports.add(cmd)
	addPolicies(cmd, &names, "hold every tape against this `POLICY`, a file or one that comes with nodesim; may be repeated")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show tapes that pass as well")
	stored.add(cmd)
	exclude(cmd, "update", "the tapes of a store have no golden files", "store")
	cmd.AddCommand(newTestMerge(), newTestManifest())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if ci := os.Getenv("CI"); update && isSet(ci) {
			return usagef("flag --update: found CI=%s: want a machine where a person reads the change", ci)
		}
		if err := wantFiles(cmd, "junit", "summary", "annotations"); err != nil {
			return err
		}
		policies, err := analyse.Policies(names)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("store") {
			return stored.run(cmd, args, policies, verbose, &reports)
		}
		if len(args) == 0 {
			args = []string{"."}
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
		if err := reports.write(rep); err != nil {
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

// reportFlags are the files of reports.
type reportFlags struct{ junit, summary, annotations string }

func (f *reportFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.junit, "junit", "", "write a report in JUnit's XML to `FILE`")
	cmd.Flags().StringVar(&f.summary, "summary", "", "write a report in Markdown to `FILE`")
	cmd.Flags().StringVar(&f.annotations, "annotations", "", "write what failed to `FILE` as commands of GitHub Actions, which show it in the pull request")
}

// write writes the reports that were asked for.
func (f *reportFlags) write(rep tapetest.Report) error {
	return errors.Join(writeReport(f.junit, rep.JUnit), writeReport(f.summary, rep.Markdown), writeReport(f.annotations, rep.Annotations))
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
