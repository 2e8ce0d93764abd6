package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/storetest"
	"github.com/nodesim/nodesim/internal/app/tapetest"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/replay/policy"
)

// testStoreFlags say which tapes of a store are tested, and by which shard.
type testStoreFlags struct {
	storeFlags
	asOf   instant
	shard  string
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
	for _, name := range []string{"cluster", "nodegroup", "outcome", "since", "until", "as-of", "shard", "output"} {
		annotate(flags.Lookup(name), wantsAnnotation, "store")
		annotate(flags.Lookup(name), sectionAnnotation, storeSection)
	}
}

// choose adds the flags that choose tapes.
func (f *testStoreFlags) choose(cmd *cobra.Command) {
	f.storeFlags.add(cmd)
	cmd.Flags().Var(&f.asOf, "as-of", "tapes of rolls that began before this time, from which --since and --until count back (default now)")
}

// asked is the query. Where a time is given it is the same whenever it is asked.
func (f *testStoreFlags) asked() (store.Query, error) {
	if f.asOf.IsZero() {
		return f.query(time.Now())
	}
	q, err := f.query(f.asOf.Time)
	if f.until == 0 {
		q.Until = f.asOf.Time
	}
	return q, err
}

// run tests the tapes of the store.
func (f *testStoreFlags) run(cmd *cobra.Command, args []string, policies []*policy.Policy, verbose bool, reports *reportFlags) (err error) {
	if len(args) > 0 {
		return usagef("argument %q: found a path beside --store: want files, or a store", args[0])
	}
	c := storetest.Config{Policies: policies}
	if c.Shard, err = parseShard(f.shard); err != nil {
		return err
	}
	if f.shard != "" && f.asOf.IsZero() && (f.since > 0 || f.until > 0) {
		return usagef("flag --shard: found --since or --until without --as-of: want the time from which all shards count back, such as --as-of %s", time.Now().UTC().Format(time.RFC3339))
	}
	if c.Query, err = f.asked(); err != nil {
		return err
	}
	address, err := f.address()
	if err != nil {
		return err
	}
	if c.Store, err = store.Open(cmd.Context(), address); err != nil {
		return f.ended(0, err)
	}
	defer func() { err = errors.Join(err, c.Store.Close()) }()
	tested := 0
	c.Done = func(r tapetest.Result) {
		if tested++; f.format.value == "text" {
			r.Print(cmd.OutOrStdout(), verbose)
		}
	}
	res, err := storetest.Run(cmd.Context(), c)
	if err != nil {
		return f.ended(tested, err)
	}
	return tellTest(cmd, res, f.format.value, reports)
}

// ended is the error of a test that isn't done. Of a shard, whose pod is evicted, or whose store doesn't answer, the Job has to begin the
// index again.
func (f *testStoreFlags) ended(tested int, err error) error {
	if f.shard == "" {
		return err
	}
	return &exitError{exitEnded, fmt.Errorf("shard %s: ended after %s of its own: no result is written: run it again: %w", f.shard, phrase.Count(tested, "tape"), err)}
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
	var j storetest.Job
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
	flags := cmd.Flags()
	flags.StringVar(&j.Image, "image", "", "the `IMAGE` of the pods (required)")
	flags.IntVar(&j.Shards, "shards", 2, "how many shards there are, and pods, `N`")
	flags.StringVar(&j.Name, "name", "test-tapes", "the `NAME` of the Job and of its ConfigMap")
	flags.StringVar(&j.Claim, "claim", "", "the PersistentVolumeClaim of this `NAME` has the tapes of a store in a folder")
	flags.StringVar(&j.Secret, "secret", "", "the Secret of this `NAME` has variables for the pods' environment, such as credentials of a bucket")
	flags.StringVar(&j.ServiceAccount, "service-account", "", "the `NAME` of the pods' service account")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if j.Store, err = f.address(); err != nil {
			return err
		}
		if _, err := f.asked(); err != nil {
			return err
		}
		if _, err := analyse.Policies(j.Policies); err != nil { // what can't be loaded is refused here, and not in a pod
			return err
		}
		j.Asked = f.words(time.Now())
		text, err := j.Manifest()
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	return cmd
}

// words are the flags that choose the same tapes whenever a shard runs.
func (f *testStoreFlags) words(now time.Time) []string {
	if f.asOf.IsZero() {
		f.asOf.Time = now
	}
	words := []string{"--as-of", f.asOf.String()}
	for _, flag := range []struct{ name, value string }{{"--cluster", f.cluster}, {"--nodegroup", f.group}, {"--outcome", f.outcome}} {
		if flag.value != "" {
			words = append(words, flag.name, flag.value)
		}
	}
	for _, flag := range []struct {
		name  string
		value time.Duration
	}{{"--since", f.since}, {"--until", f.until}} {
		if flag.value > 0 {
			words = append(words, flag.name, flag.value.String())
		}
	}
	return words
}
