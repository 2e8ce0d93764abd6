package app

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/hunt"
	app "github.com/nodesim/nodesim/internal/app/plan"
	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/spf13/cobra"
)

// planMemory is the limit that a plan tries to stay under, and planGarbage bounds how much garbage it gathers, in percent of what
// lives: each run throws away all that it made.
const (
	planMemory  = 900 << 20
	planGarbage = 800
)

// planFlags are those of plan, as they were given.
type planFlags struct {
	scenario        scenarioFlags
	roll            rollFlags
	compare, whatIf []string
	policies        []string
	version, image  string
	runs            int
	timeLimit       time.Duration
	tape            string
	live            bool
	liveSpeed       speed
	which, format   *choice
	cluster         *connectionFlags
}

const aboutPlan = `Tell what the roll of a node group will do before it begins. The cluster is read, or
FILE is: a scenario file, a tape, what kubectl get -o json prints, or a folder of
kubectl cluster-info dump or must-gather. Then the roll is simulated, with other random
choices each time, and the answer tells

  how long it takes, and whether it ends by itself
  what blocks it, in how many of the runs, and what helps
  which pods don't run again, with the scheduler's message
  how many pods of each workload stay available
  how many more nodes there are, and in which order nodes are replaced

Settings that aren't given are the provider's defaults. --roll gives the roll a setting
by its key in a scenario file; --compare has a row for each of several values, and each
combination; --what-if changes the cluster before the roll:

  budget/shop/web:maxUnavailable=2      workload/shop/web:replicas=4
  group/workers:instanceType=m5.xlarge  zone/eu-central-1a:lost=10m

With --live the same cluster, its nodes, workloads and where its pods run, is built
once more on a control plane of its own with virtual nodes, and the roll is done there,
with the real scheduler, eviction and controllers; the answer says where both differ.

The exit status is 1 if any run doesn't end by itself or violates a --policy; with
--compare, if that is so with each combination. Nothing is written to the cluster.
docs/plan.md walks through it.`

func newPlan() *cobra.Command {
	f := planFlags{format: newChoice("text", "text", "json", "markdown"), which: newChoice("median", "median", "worst"), cluster: newConnectionFlags()}
	cmd := &cobra.Command{
		Use:     "plan [FILE | --simulate SCENARIO]",
		Short:   "Tell what a roll will do before it begins",
		Long:    aboutPlan,
		GroupID: "use",
		Example: examples(`
			nodesim plan --nodegroup workers
			nodesim plan --nodegroup workers --to-version 1.35 --compare maxUnavailable=1,2,33%
			nodesim plan --nodegroup workers --what-if budget/shop/web:maxUnavailable=1 -o markdown
			nodesim plan cluster.yaml --policy budgets-kept --tape worst.yaml --which worst
			nodesim plan --nodegroup workers --live
			nodesim plan --simulate stuck-drain`),
		Args:              arguments(0, 1, "one file or folder"),
		ValidArgsFunction: completeFiles(1, append([]string{"json"}, tapeEndings...)...),
	}
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.request(cmd, args)
		if err != nil {
			return err
		}
		boundMemory(planMemory)
		setGCPercent(planGarbage)
		failure, err := r.Run(cmd.Context())
		if err == nil && failure != "" {
			err = errors.New("plan: " + failure)
		}
		return ofOptions(err)
	}
	return cmd
}

func (f *planFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.scenario.word, "simulate", "", "plan the roll of this `SCENARIO`, a name or a scenario file")
	f.scenario.add(cmd)
	flags.Lookup("seed").Usage = "seed of the first run; the others have the next ones (default: the scenario's)"
	f.roll.add(cmd)
	flags.StringVar(&f.version, "to-version", "", "the `VERSION` of the kubelet that the new nodes have, such as 1.35")
	flags.StringVar(&f.image, "to-image", "", "the `IMAGE` that the new nodes have")
	flags.StringArrayVar(&f.compare, "compare", nil, "compare the values of a setting, or of a change, `NAME=VALUE,VALUE`; may be repeated")
	flags.StringArrayVar(&f.whatIf, "what-if", nil, "make this change `OBJECT:KEY=VALUE` before the roll; may be repeated")
	flags.IntVar(&f.runs, "runs", plan.DefaultRuns, "simulate the roll so many times")
	flags.DurationVar(&f.timeLimit, "time-limit", 0, "how long a roll may take (default: the scenario's; of a cluster 12h, and 30m a node)")
	flags.VarP(f.format, "output", "o", "text, json for programs, or markdown for a pull request")
	flags.StringVar(&f.tape, "tape", "", "write the tape of one run to this `FILE`")
	flags.Var(f.which, "which", "the run of --tape")
	annotate(flags.Lookup("which"), wantsAnnotation, "tape")
	flags.BoolVar(&f.live, "live", false, "roll the same cluster once on a control plane of its own, and hold the plan against that")
	flags.Var(&f.liveSpeed, "live-speed", "the `SPEED` of --live (default 20x)")
	annotate(flags.Lookup("live-speed"), wantsAnnotation, "live")
	exclude(cmd, "live", "a comparison has several rolls", "compare")
	addPolicies(cmd, &f.policies, "fail where a run violates this `POLICY`, a file or one that comes with nodesim; may be repeated")
	f.cluster.bind(flags)
	section(scenarioSection, flags, "simulate", "set", "seed", "timings")
	exclude(cmd, "to-image", "an image says its version", "to-version")
	exclude(cmd, "tape", "a comparison has no run that stands for all", "compare")
	_ = cmd.RegisterFlagCompletionFunc("simulate", completeScenario)
	_ = cmd.RegisterFlagCompletionFunc("what-if", completeChanges)
	suggestKeys(cmd, "compare", spec.RollKeys())
	suggest(cmd, "output", f.format.of...)
	suggest(cmd, "which", f.which.of...)
	suggest(cmd, "live-speed", "1x", "5x", "10x", "20x")
}

// rollFlags choose which groups are rolled, and how.
type rollFlags struct {
	groups, keys []string
	strategy     string
	at           position // of a tape
}

func (f *rollFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.groups, "nodegroup", nil, "roll the node group of this `NAME`; may be repeated (default: the scenario's, or all)")
	flags.StringVar(&f.strategy, "strategy", "", "how nodes are replaced (default: the provider's way)")
	flags.Var(&f.at, "at", "the moment of a tape at which the roll begins (default: its beginning)")
	flags.StringArrayVar(&f.keys, "roll", nil, "give the roll another setting `KEY=VALUE`, such as maxUnavailable=2; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("nodegroup", completeGroups)
	suggestKeys(cmd, "roll", spec.RollKeys()[1:])
	var strategies []string
	for _, p := range providerNames()[1:] {
		for _, s := range spec.Strategies(spec.Provider(p)) {
			if !slices.Contains(strategies, string(s)) {
				strategies = append(strategies, string(s))
			}
		}
	}
	suggest(cmd, "strategy", strategies...)
}

// settings are those of the roll that were given.
func (f *rollFlags) settings() (all []spec.Setting, err error) {
	if f.strategy != "" {
		all = append(all, spec.Setting{Name: "strategy", Value: f.strategy})
	}
	for _, text := range f.keys {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usagef("flag --roll %q: want KEY=VALUE, such as maxUnavailable=2", text)
		}
		all = append(all, spec.Setting{Name: name, Value: value})
	}
	return all, nil
}

// ofOptions has an error about what a plan was asked for, or a search, be a wrong usage.
func ofOptions(err error) error {
	bad, setting := (*plan.OptionError)(nil), (*hunt.SettingError)(nil)
	if errors.As(err, &bad) || errors.As(err, &setting) {
		return &exitError{exitUsage, err}
	}
	return err
}

// request is what the flags ask for.
func (f *planFlags) request(cmd *cobra.Command, args []string) (*app.Request, error) {
	o := plan.Options{
		Groups: f.roll.groups, ToVersion: f.version, ToImage: f.image, TimeLimit: f.timeLimit, Runs: f.runs, Seed: f.scenario.seed.value,
		Parallel: runtime.GOMAXPROCS(0),
	}
	switch {
	case f.runs < 1:
		return nil, usagef("flag --runs %d: want 1 or more", f.runs)
	case f.timeLimit < 0 || f.timeLimit > spec.MaxDuration:
		return nil, usagef("flag --time-limit %s: want at most %s", f.timeLimit, spec.MaxDuration)
	}
	var err error
	if o.Roll, err = f.roll.settings(); err != nil {
		return nil, err
	}
	for _, text := range f.whatIf {
		c, err := spec.ParseChange(text)
		if err != nil {
			return nil, usagef("flag --what-if %w", err)
		}
		o.WhatIf = append(o.WhatIf, c)
	}
	if err := wantFiles(cmd, "tape"); err != nil {
		return nil, err
	}
	r := &app.Request{Format: f.format.value, Tape: f.tape, Which: plan.Which(f.which.value), Out: cmd.OutOrStdout()}
	for _, text := range f.compare {
		a, err := plan.ParseAxis(text)
		if err != nil {
			return nil, usagef("flag --compare %w", err)
		}
		r.Compare = append(r.Compare, a)
	}
	if o.Policies, err = analyse.Policies(f.policies); err != nil {
		return nil, err
	}
	if errOut := cmd.ErrOrStderr(); terminal.Is(errOut) {
		r.Status, r.Width = errOut, terminal.Width(errOut)
	}
	if f.live {
		speed := 20.0
		switch given := f.liveSpeed.Speed; {
		case given == replay.Max || given != 0 && (given < 0.01 || given > 10_000):
			return nil, usagef("flag --live-speed %s: want 0.01x to 10000x", f.liveSpeed.String())
		case given != 0:
			speed = float64(given)
		}
		say := func(line string) { fmt.Fprintf(cmd.ErrOrStderr(), "nodesim: %s\n", noderoll.OneLine(line)) }
		r.Live = &app.Live{Speed: speed, Say: say, Warn: func(text string) { warn(cmd.ErrOrStderr(), "%s", text) }}
	}
	r.Options = o
	r.File, err = f.file(cmd, args)
	return r, err
}

// file is what is planned: a scenario, or a cluster that is read.
func (f *planFlags) file(cmd *cobra.Command, args []string) (file *scenarios.File, err error) {
	named, place := cmd.Flags().Changed("simulate"), ""
	switch {
	case named && len(args) > 0:
		return nil, usagef("argument %q: want either a file or --simulate %s", args[0], f.scenario.word)
	case named:
		place = "flag --simulate: "
		err = wantNoConnection(cmd, "the scenario "+f.scenario.word)
	case len(args) > 0:
		if err = wantNoConnection(cmd, nameIn(args[0])); err != nil {
			return nil, err
		}
		if file, err = f.scenario.read(cmd, args[0], &f.roll); file != nil { // the plan says what is left out
			fmt.Fprintln(cmd.ErrOrStderr(), snapshot.Line(nameIn(args[0]), &file.File, time.Now()))
		}
	default:
		file, err = f.connected(cmd)
	}
	if err != nil {
		return nil, err
	}
	if file != nil {
		return f.scenario.calibrated(cmd, file)
	}
	if err := f.roll.at.wantTape(scenarioMoment); err != nil {
		return nil, err
	}
	src, err := f.scenario.source(cmd, place)
	if err == nil && src.File == nil {
		err = usagef("%sscenario %s: it was made by hand and has no roll to plan: want another one, such as surge", place, src.Scenario.Name)
	}
	return src.File, err
}

// connected reads the kubeconfig's cluster.
func (f *planFlags) connected(cmd *cobra.Command) (*scenarios.File, error) {
	if err := wantNoSettings(cmd); err != nil {
		return nil, err
	}
	if err := f.roll.at.wantTape(clusterMoment); err != nil {
		return nil, err
	}
	to, err := destinationOf(f.cluster)
	if err != nil {
		return nil, err
	}
	return app.Cluster(cmd.Context(), snapshot.Source{REST: to.rest, Name: to.name, Now: time.Now()})
}

// suggestKeys completes the beginning of KEY=VALUE.
func suggestKeys(cmd *cobra.Command, flag string, keys []string) {
	var all []string
	for _, k := range keys {
		all = append(all, k+"=")
	}
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
}

// planned is the scenario that the line names, nil where it names none or a cluster.
func planned(cmd *cobra.Command, args []string) *scenarios.File {
	word := ""
	if flag := cmd.Flags().Lookup("simulate"); flag != nil {
		word = flag.Value.String()
	}
	if word == "" && len(args) > 0 && args[0] != "-" {
		word = args[0]
	}
	if word == "" {
		return nil
	}
	s, err := simulate.Find(word, nil)
	if err != nil || s.Document == nil {
		return nil
	}
	f, err := s.Document.Resolve(nil, nil)
	if err != nil {
		return nil
	}
	return f
}

func completeGroups(cmd *cobra.Command, args []string, word string) (all []string, _ cobra.ShellCompDirective) {
	if f := planned(cmd, args); f != nil {
		for i := range f.Groups {
			if strings.HasPrefix(f.Groups[i].Name, word) {
				all = append(all, f.Groups[i].Name)
			}
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// completeChanges suggests what a change of the scenario may begin with.
func completeChanges(cmd *cobra.Command, args []string, word string) (all []string, _ cobra.ShellCompDirective) {
	if f := planned(cmd, args); f != nil {
		for _, c := range f.Changeable() {
			if strings.HasPrefix(c, word) {
				all = append(all, c)
			}
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
