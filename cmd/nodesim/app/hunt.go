package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/hunt"
	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/scenarios"
	search "github.com/nodesim/nodesim/scenarios/hunt"
	reading "github.com/nodesim/nodesim/scenarios/snapshot"
)

// huntFlags are those of hunt, as they were given.
type huntFlags struct {
	scenario scenarioFlags
	roll     rollFlags
	policies []string
	budget   time.Duration
	cases    uint64
	stored   workFlags
}

const aboutHunt = `Search for rolls of SCENARIO that go wrong: its cases are simulated until one
breaks an invariant of Kubernetes or a policy. A case has another seed, other
values of the scenario's parameters, other numbers of nodes and replicas, other
settings of the roll, and faults that begin when nodes are in some state. Case 0
is the scenario itself. What is found is made small (fewer faults, workloads,
nodes and replicas, less time, usual settings), and is written: a scenario file, and
its tape. Then a table says what was tried, and what never was.

SCENARIO is a name, a scenario file, or a cluster as nodesim plan reads it: a tape, what
kubectl get -o json prints, or a folder of kubectl cluster-info dump or must-gather.
Where nothing happens by itself (no roll, no autoscaler, no fault and no workload that is
created later), all groups are rolled, as nodesim plan does it. --nodegroup, --strategy and --roll choose, and
what they say is so in all cases.

The same scenario, policies and --seed have the same cases. --cases bounds them;
--budget ends the search earlier, or alone. Exit status: 0 nothing found,
1 something was found, 4 a shard that was ended before it was done.

--store searches through the clusters that the tapes of a store begin with, one after the
other, 100 cases of each unless --cases says otherwise. Tapes that don't begin with a
cluster are named, and left out.

--shard 2/8 tries each eighth case, from the third on; with --store, all cases of an eighth
of the tapes. nodesim hunt merge puts the results of all shards together. docs/hunt.md
explains the search.`

func newHunt() *cobra.Command {
	f, format, out := huntFlags{}, newChoice("text", "text", "json"), ""
	cmd := &cobra.Command{
		Use:     "hunt SCENARIO | --store URL",
		Short:   "Search for rolls that go wrong",
		Long:    aboutHunt,
		GroupID: "use",
		Example: examples(`
			nodesim hunt surge --policy no-stuck-roll
			nodesim hunt ./mine.yaml --policy budgets-kept --policy mine.policy.yaml --budget 5m --out found.yaml
			nodesim hunt cluster.json --nodegroup workers --roll maxUnavailable=2 --policy no-stuck-roll
			` + reading.KubectlGet + ` | nodesim hunt - --policy no-stuck-roll
			nodesim hunt --store file:///srv/tapes --since 168h --policy no-stuck-roll
			nodesim hunt surge --cases 10000 --shard 0/8 -o json > 0.json
			nodesim hunt merge 0.json 1.json 2.json
			nodesim hunt manifest surge --cases 10000 --shards 8 --image registry.example/nodesim:v1 | kubectl apply --server-side -f -`),
		Args:              scenarioOrStore,
		ValidArgsFunction: oneScenario,
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.stored.shard, "shard", "", "try only the cases of one of several shards, `INDEX/SHARDS`, or with --store of its tapes")
	cmd.Flags().StringVar(&out, "out", "", "write what is found to `FILE`, and its tape beside it (default found.yaml; with -o json the result has it)")
	cmd.Flags().VarP(format, "output", "o", "text, or json for programs and for nodesim hunt merge")
	suggest(cmd, "output", format.of...)
	exclude(cmd, "store", "-o json has what is found in each tape", "out")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("store") {
			return f.runStore(cmd, format.value)
		}
		c, err := f.config(cmd, args)
		if err != nil {
			return err
		}
		if c.Shard, err = parseShard(f.stored.shard); err != nil {
			return err
		}
		if out == "" && format.value == "text" {
			out = "found.yaml"
		}
		if err := freeOut(cmd, out); err != nil {
			return err
		}
		return f.run(cmd, c, format.value, out)
	}
	cmd.AddCommand(newHuntMerge(), newHuntManifest())
	return cmd
}

// add adds the flags that a search in one process and one in shards have.
func (f *huntFlags) add(cmd *cobra.Command) {
	f.scenario.add(cmd)
	f.roll.add(cmd)
	flags := cmd.Flags()
	flags.Lookup("seed").Usage = "seed of the search: which cases there are (default 1)"
	addPolicies(cmd, &f.policies, "a case must not break this `POLICY`, a file or one that comes with nodesim; may be repeated")
	flags.DurationVar(&f.budget, "budget", 0, "end the search after this time (default 1m without --cases)")
	flags.Uint64Var(&f.cases, "cases", 0, "the number of cases, `N`; without it, only --budget ends the search (with --store, those of each tape; default 100)")
	section(scenarioSection, flags, "set", "timings")
	f.stored.choose(cmd)
	flags.Lookup("store").Usage = "search through the clusters of the tapes of the store of this `URL`, such as file:///srv/tapes, in place of SCENARIO"
	flags.Lookup("nodegroup").Usage += "; with --store, once: only tapes of this group"
	wantStore(flags, "cluster", "outcome", "since", "until", "as-of")
	exclude(cmd, "store", "the cluster of a tape has no parameters", "set")
	exclude(cmd, "store", "tapes are read at their beginning", "at")
	exclude(cmd, "store", "time would end the search at another case each time", "budget")
}

// scenarioOrStore wants a scenario, or none beside --store.
func scenarioOrStore(cmd *cobra.Command, args []string) error {
	if !cmd.Flags().Changed("store") {
		return arguments(1, 1, "one scenario")(cmd, args)
	}
	if len(args) > 0 {
		return usagef("argument %q: found a scenario beside --store: want one of them", args[0])
	}
	return nil
}

// config is what was asked for. Without arguments it has no scenario.
func (f *huntFlags) config(cmd *cobra.Command, args []string) (c hunt.Config, err error) {
	if f.budget < 0 {
		return c, usagef("flag --budget %s: want more than 0s", f.budget)
	}
	c.Roll.Groups = f.roll.groups
	if c.Roll.Settings, err = f.roll.settings(); err != nil {
		return c, err
	}
	if len(args) > 0 {
		if c.Scenario, err = f.find(cmd, args[0], c.Roll); err != nil {
			return c, err
		}
	}
	if c.Policies, err = analyse.Policies(f.policies); err != nil {
		return c, err
	}
	c.Settings, c.Timings, c.Seed, c.Cases, c.Budget, c.Parallel = f.scenario.settings, f.scenario.timings, 1, f.cases, f.budget, runtime.GOMAXPROCS(0)
	if f.scenario.seed.value != nil {
		c.Seed = *f.scenario.seed.value
	}
	return c, nil
}

// find returns the scenario of a name or of a file, or that of the cluster which a file holds.
func (f *huntFlags) find(cmd *cobra.Command, word string, roll hunt.Roll) (scenarios.Scenario, error) {
	f.scenario.word = word
	if simulate.IsFile(word) || filepath.Ext(word) != "" {
		cluster, err := f.scenario.read(cmd, word, &f.roll)
		if err != nil {
			return scenarios.Scenario{}, err
		}
		if cluster != nil {
			snapshot.Describe(cmd.ErrOrStderr(), nameIn(word), &cluster.File, time.Now())
			s, err := hunt.Cluster(cluster, roll)
			return s, ofOptions(err)
		}
	}
	if err := f.roll.at.wantTape(scenarioMoment); err != nil {
		return scenarios.Scenario{}, err
	}
	return f.scenario.find(cmd, "")
}

// run searches, and tells what it came to.
func (f *huntFlags) run(cmd *cobra.Command, c hunt.Config, format, out string) error {
	errOut := cmd.ErrOrStderr()
	if c.Budget == 0 && c.Cases == 0 {
		c.Budget = time.Minute
	}
	boundMemory(simulateMemory)
	setGCPercent(simulateGarbage)
	res, err := hunt.Run(cmd.Context(), c, &simulate.Status{Out: errOut, Width: terminal.Width(errOut)})
	if err != nil {
		return ofOptions(err)
	}
	if shard := f.stored.shard; cmd.Context().Err() != nil && shard != "" && res.Found == nil {
		// A pod that is evicted: its index is not done, and the Job has to begin it again.
		return &exitError{exitEnded, fmt.Errorf("shard %s: ended from outside after %s of its cases: no result is written: run it again", shard, phrase.Count(int(res.Tried), "case"))}
	}
	err = tellHunt(cmd, res, format, out)
	if cmd.Context().Err() != nil && res.Found == nil && err == nil {
		err = fmt.Errorf("ended from outside after %s: that nothing was found says nothing of the others: run it again", phrase.Count(int(res.Tried), "case"))
	}
	return err
}

// storeConfig is what was asked for of each tape of a store.
func (f *huntFlags) storeConfig(cmd *cobra.Command) (c hunt.StoreConfig, err error) {
	if len(f.roll.groups) > 1 {
		return c, usagef("flag --nodegroup %q: found another one beside it, and --store: want it once, as it chooses tapes", f.roll.groups[1])
	}
	if c.Search, err = f.config(cmd, nil); err != nil {
		return c, err
	}
	if c.Search.Cases == 0 {
		c.Search.Cases = hunt.StoreCases
	}
	return c, ofOptions(c.Check())
}

// runStore searches through the tapes of a store, and tells what it came to.
func (f *huntFlags) runStore(cmd *cobra.Command, format string) (err error) {
	c, err := f.storeConfig(cmd)
	if err != nil {
		return err
	}
	if len(f.roll.groups) > 0 {
		f.stored.group = f.roll.groups[0]
	}
	if c.Work, err = f.stored.work(cmd); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Store.Close()) }()
	done, out, errOut := 0, cmd.OutOrStdout(), cmd.ErrOrStderr()
	c.Done = func(t *hunt.StoreTape) {
		if done++; format == "text" {
			t.Text(out, c.Search.Seed)
		}
	}
	boundMemory(simulateMemory)
	setGCPercent(simulateGarbage)
	res, err := hunt.RunStore(cmd.Context(), c, &simulate.Status{Out: errOut, Width: terminal.Width(errOut)})
	if err != nil {
		return f.stored.ended(done, err)
	}
	return tellStoreHunt(cmd, res, format)
}

// tellStoreHunt writes a result whose tapes are told of. What isn't whole, and what was found, is the exit status.
func tellStoreHunt(cmd *cobra.Command, res *hunt.StoreResult, format string) error {
	if format == "json" {
		if err := writeResult(cmd.OutOrStdout(), res); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(cmd.OutOrStdout(), res.Summary())
	}
	if err := res.Whole(); err != nil {
		return err
	}
	if res.Failed > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

// freeOut refuses a file for what is found that is there, or is none.
func freeOut(cmd *cobra.Command, out string) error {
	if err := wantFiles(cmd, "out"); err != nil || out == "" {
		return err
	}
	return hunt.Free(out)
}

// tellHunt writes a result, and what was found to a file. Something that was found is the exit status.
func tellHunt(cmd *cobra.Command, res *search.Result, format, out string) error {
	if format == "json" {
		if err := writeResult(cmd.OutOrStdout(), res); err != nil {
			return err
		}
	} else if err := res.Text(cmd.OutOrStdout()); err != nil {
		return err
	}
	if res.Found == nil {
		if missing := len(res.Lacks); missing > 0 {
			return fmt.Errorf("found no result of %s: want those of all, to say that nothing fails", phrase.Count(missing, "shard"))
		}
		return nil
	}
	if out != "" {
		if err := hunt.Write(cmd.Context(), res, out, cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	return &exitError{code: exitFailed}
}

func newHuntMerge() *cobra.Command {
	format, out := newChoice("text", "text", "json"), ""
	cmd := &cobra.Command{
		Use:   "merge RESULT...",
		Short: "Put the results of a search's shards together",
		Long: `Put the results of a search's shards together: the failing case with the lowest number, and
all that was tried; of a search through a store, each tape. A RESULT is a file that nodesim
hunt -o json has written, or a log with such lines among others, or - for standard input.
Results of another scenario or other tapes, another policy, seed or number of cases are
refused. Shards without a result are named, and the exit status is 1.`,
		Example: examples(`
			nodesim hunt merge 0.json 1.json 2.json
			kubectl logs -l batch.kubernetes.io/job-name=hunt-surge --tail=-1 | nodesim hunt merge - --out found.yaml`),
		Args:              arguments(1, -1, "a result"),
		ValidArgsFunction: completeFiles(-1, "json", "log"),
	}
	cmd.Flags().StringVar(&out, "out", "", "write what was found to `FILE`, and its tape beside it")
	cmd.Flags().VarP(format, "output", "o", "text, or json for programs")
	suggest(cmd, "output", format.of...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := freeOut(cmd, out); err != nil {
			return err
		}
		cases, stored, err := hunt.ReadResults(args, cmd.InOrStdin())
		if err != nil {
			return err
		}
		if len(stored) > 0 {
			return mergeStoreHunt(cmd, stored, format.value, out)
		}
		res, err := search.Merge(cases)
		if err != nil {
			return err
		}
		return tellHunt(cmd, res, format.value, out)
	}
	return cmd
}

// mergeStoreHunt puts the results of a search through a store together, and tells of them.
func mergeStoreHunt(cmd *cobra.Command, all []hunt.StoreResult, format, out string) error {
	if out != "" {
		return usagef("flag --out %q: found results of a search through a store: want -o json, which has what was found in each tape", out)
	}
	res, err := hunt.MergeStore(all)
	if err != nil {
		return err
	}
	if format == "text" {
		for i := range res.Tapes {
			res.Tapes[i].Text(cmd.OutOrStdout(), res.Seed)
		}
	}
	return tellStoreHunt(cmd, res, format)
}

func newHuntManifest() *cobra.Command {
	var f huntFlags
	var j tapes.Job
	cmd := &cobra.Command{
		Use:   "manifest SCENARIO | --store URL --shards N --image IMAGE",
		Short: "Print a Kubernetes Job that runs a search in shards",
		Long: `Print an Indexed Job, and a ConfigMap with the scenario and the policies: each of the Job's
pods runs one shard, and leaves its result in its log. An index fails where its shard found
something; one whose pod is lost or evicted runs again. IMAGE has nodesim as its entry point, or
nodesim-cloud for a bucket. kubectl apply wants --server-side where the ConfigMap, such as that of a
cluster's scenario, is above 256 KiB.

With --store the pods search through the tapes of a store, each pod through its part. They open the
store by its URL: one in a folder is the volume of --claim, and a bucket's credentials are in a
Secret, or are those of the service account. The store isn't opened here.`,
		Example: examples(`
			nodesim hunt manifest surge --policy no-stuck-roll --cases 100000 --shards 8 --image registry.example/nodesim:v1
			nodesim hunt manifest --store file:///srv/tapes --claim tapes --policy no-stuck-roll --shards 8 --image registry.example/nodesim:v1`),
		Args:              scenarioOrStore,
		ValidArgsFunction: oneScenario,
	}
	f.add(cmd)
	addJob(cmd, &j, "hunt-tapes")
	wantStore(cmd.Flags(), "name", "claim", "secret", "service-account")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		manifest := f.manifest
		if cmd.Flags().Changed("store") {
			manifest = f.storeManifest
		}
		text, err := manifest(cmd, args, &j)
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	return cmd
}

// manifest is the Job of a search through a scenario.
func (f *huntFlags) manifest(cmd *cobra.Command, args []string, j *tapes.Job) ([]byte, error) {
	c, err := f.config(cmd, args)
	if err != nil {
		return nil, err
	}
	if f.cases == 0 && f.budget == 0 {
		return nil, usagef("found neither --cases nor --budget: want one of them, so that the Job ends")
	}
	text, err := hunt.Manifest(c, f.policies, j.Image, j.Shards)
	return text, ofOptions(err)
}

// storeManifest is the Job of a search through the tapes of a store.
func (f *huntFlags) storeManifest(cmd *cobra.Command, _ []string, j *tapes.Job) ([]byte, error) {
	c, err := f.storeConfig(cmd)
	if err != nil {
		return nil, err
	}
	if err := f.stored.job(j); err != nil {
		return nil, err
	}
	j.Policies = f.policies
	return hunt.StoreManifest(c, *j)
}

func oneScenario(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || cmd.Flags().Changed("store") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words, how := completeScenario(cmd, args, word)
	if how == cobra.ShellCompDirectiveFilterFileExt {
		words = append([]string{"json"}, tapeEndings...) // a cluster, too
	}
	return words, how
}
