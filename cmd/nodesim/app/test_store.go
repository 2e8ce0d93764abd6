package app

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/storetest"
	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/app/tapetest"
	"github.com/nodesim/nodesim/replay/policy"
)

// testStoreFlags say which tapes of a store are tested, and by which shard.
type testStoreFlags struct {
	workFlags
	format *choice
}

// add adds the flags of nodesim test, which mean nothing without --store.
func (f *testStoreFlags) add(cmd *cobra.Command) {
	f.choose(cmd)
	flags := cmd.Flags()
	f.format = newChoice("text", "text", "json")
	flags.StringVar(&f.shard, "shard", "", "test only the tapes of one of several shards, `INDEX/SHARDS`")
	flags.VarP(f.format, "output", "o", "text, or json for programs and for nodesim test merge")
	suggest(cmd, "output", f.format.of...)
	flags.Lookup("store").Usage = "test the tapes of the store of this `URL`, such as file:///srv/tapes, in place of files"
	wantStore(flags, "cluster", "nodegroup", "outcome", "since", "until", "as-of", "shard", "output")
}

// choose adds the flags that choose tapes.
func (f *testStoreFlags) choose(cmd *cobra.Command) {
	f.workFlags.choose(cmd)
	f.addGroup(cmd)
}

// run tests the tapes of the store.
func (f *testStoreFlags) run(cmd *cobra.Command, args []string, policies []*policy.Policy, verbose bool, reports *reportFlags) (err error) {
	if len(args) > 0 {
		return usagef("argument %q: found a path beside --store: want files, or a store", args[0])
	}
	w, err := f.work(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Store.Close()) }()
	tested := 0
	done := func(r tapetest.Result) {
		if tested++; f.format.value == "text" {
			r.Print(cmd.OutOrStdout(), verbose)
		}
	}
	res, err := storetest.Run(cmd.Context(), storetest.Config{Store: w.Store, Query: w.Query, Shard: w.Shard, Policies: policies, Done: done})
	if err != nil {
		return f.ended(tested, err)
	}
	return tellTest(cmd, res, f.format.value, reports)
}

// tellTest writes a result whose tapes are told of. What isn't whole, and what failed, is the exit status.
func tellTest(cmd *cobra.Command, res *storetest.Result, format string, reports *reportFlags) error {
	rep := res.Report()
	if format == "json" {
		if err := writeResult(cmd.OutOrStdout(), res); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(cmd.OutOrStdout(), rep.Summary())
	}
	if err := reports.write(rep); err != nil {
		return err
	}
	if err := res.Whole(); err != nil {
		return err
	}
	if res.Failed > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

func newTestMerge() *cobra.Command {
	var verbose bool
	var reports reportFlags
	format := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "merge RESULT...",
		Short: "Put the results of the shards of a test together",
		Long: `Put the results of the shards of a test together. A RESULT is a file that nodesim test --store -o json
has written, or a log with such lines among others, or - for standard input. A result that is
there twice counts once. Results of another store, other tapes or policies, or another
version of nodesim are refused. Shards without a result are named, and fail.`,
		Example: examples(`
			nodesim test merge 0.json 1.json 2.json --junit report.xml
			kubectl logs -l batch.kubernetes.io/job-name=test-tapes --tail=-1 | nodesim test merge -`),
		Args:              arguments(1, -1, "a result"),
		ValidArgsFunction: completeFiles(-1, "json", "log"),
	}
	reports.add(cmd)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show tapes that pass as well")
	cmd.Flags().VarP(format, "output", "o", "text, or json for programs")
	suggest(cmd, "output", format.of...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := wantFiles(cmd, "junit", "summary", "annotations"); err != nil {
			return err
		}
		all, err := storetest.ReadResults(args, cmd.InOrStdin())
		if err != nil {
			return err
		}
		res, err := storetest.Merge(all)
		if err != nil {
			return err
		}
		if format.value == "text" {
			for _, r := range res.Report().Results {
				r.Print(cmd.OutOrStdout(), verbose)
			}
		}
		return tellTest(cmd, res, format.value, &reports)
	}
	return cmd
}

func newTestManifest() *cobra.Command {
	var f testStoreFlags
	var j tapes.Job
	cmd := &cobra.Command{
		Use:   "manifest --store URL --shards N --image IMAGE",
		Short: "Print a Kubernetes Job that tests the tapes of a store in shards",
		Long: `Print an Indexed Job, and a ConfigMap with the policies: each of the Job's pods tests the tapes of
one shard, and leaves its result in its log. An index fails where a tape of its shard does; one whose
pod is lost or evicted runs again. IMAGE has nodesim as its entry point, or nodesim-cloud for a bucket.

The pods open the store by its URL: one in a folder is the volume of --claim, and a bucket's
credentials are in a Secret, or are those of the service account. The store isn't opened here.`,
		Example: examples(`
			nodesim test manifest --store file:///srv/tapes --claim tapes --policy no-stuck-roll --shards 8 --image registry.example/nodesim:v1
			nodesim test manifest --store 's3://tapes?region=eu-central-1' --secret bucket --since 168h --shards 8 --image registry.example/nodesim-cloud:v1`),
		Args:              arguments(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.choose(cmd)
	addPolicies(cmd, &j.Policies, "hold every tape against this `POLICY`, a file or one that comes with nodesim; may be repeated")
	addJob(cmd, &j, "test-tapes")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.job(&j); err != nil {
			return err
		}
		if _, err := analyse.Policies(j.Policies); err != nil { // what can't be loaded is refused here, and not in a pod
			return err
		}
		text, err := storetest.Manifest(&j)
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	return cmd
}
