package app

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/spf13/cobra"
)

// simulateFlags are those of simulate, as they were given.
type simulateFlags struct {
	scenario   scenarioFlags
	out        string
	list, show bool
	format     *choice
	live       liveFlags
}

const aboutSimulate = `Simulate a scenario and write its tape: nodes, pods, budgets and Events of a
cluster that is rolled or disturbed, as a recording would have them. SCENARIO is
the name of one of those that come with nodesim, or a file, or - for standard
input. The same scenario, values, seed and version of nodesim give the same tape,
byte for byte, everywhere.

  --list             the scenarios; with SCENARIO, what happens in it and what
                     can be --set; with -o json, all of that for programs
  --show             the file of SCENARIO, to start your own from

  --live             run SCENARIO on a real API server, the one of the
                     kubeconfig: nodes join, pods run on them, drains evict them
                     and budgets hold. The cluster needs its own controllers and
                     scheduler, and no nodes of others. ctrl-c ends it cleanly,
                     and everything that was made is removed; after a kill the
                     same command resumes what is there, and --cleanup
                     removes it
  --with-cluster     with --live: on a control plane of its own, for as long as
                     it lasts

A roll that fails, or that isn't over when the scenario's time limit comes, is a
simulation that worked: the exit status is 0, and the tape says what happened.
An existing FILE is refused; --out - writes to standard output. ctrl-c leaves a
tape that ends where it was.

docs/scenarios.md explains the file.`

func newSimulate() *cobra.Command {
	f := simulateFlags{format: newChoice("text", "text", "panel", "feed", "json", "none")}
	cmd := &cobra.Command{
		Use:     "simulate SCENARIO --out FILE | --live",
		Short:   "Simulate a roll into a tape, or run it on an API server",
		Long:    aboutSimulate,
		GroupID: "make",
		Example: examples(`
			nodesim simulate --list
			nodesim simulate stuck-drain --list
			nodesim simulate stuck-drain --set force=true --seed 7 --out roll.yaml
			nodesim simulate surge --show > mine.yaml
			nodesim simulate ./mine.yaml --out mine-roll.yaml.zst
			nodesim simulate surge --out - | nodesim inspect -
			nodesim simulate stuck-drain --live --with-cluster --speed 10x
			nodesim simulate surge --live --context kind-test --i-know-this-cluster kind-test --speed 20x --out live.yaml
			nodesim simulate surge --live --context kind-test --cleanup`),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeScenario(cmd, args, word)
		},
	}
	outFlag(cmd, &f.out)
	flags := cmd.Flags()
	flags.Lookup("out").Usage = "the `FILE` to write, - for standard output; .gz and .zst are compressed (required; with --live, a recording of the run)"
	f.scenario.add(cmd)
	flags.BoolVar(&f.list, "list", false, "list the scenarios, or describe one")
	flags.BoolVar(&f.show, "show", false, "print the scenario's file")
	flags.VarP(f.format, "output", "o", "text, or json for programs, of --list; panel, feed, json or none of --live")
	suggest(cmd, "output", f.format.of...)
	f.live.add(cmd)
	section(scenarioSection, flags, "set", "seed", "timings", "list", "show")
	exclude(cmd, "list", "--list simulates nothing", "show", "out", "set", "seed", "timings", "live")
	exclude(cmd, "show", "--show simulates nothing", "out", "set", "seed", "timings", "live", "output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(cmd, args); err != nil {
			return err
		}
		if len(args) > 0 {
			f.scenario.word = args[0]
		}
		switch {
		case f.list:
			return f.tell(cmd)
		case f.show:
			return f.print(cmd)
		case f.live.on:
			return f.live.run(cmd, &f)
		}
		return f.run(cmd)
	}
	return cmd
}

// check refuses values that contradict other flags.
func (f *simulateFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case f.list && f.format.value != "text" && f.format.value != "json":
		return usagef("flag --output %s: want text or json with --list", f.format.value)
	case !f.list && !f.live.on && cmd.Flags().Changed("output"):
		return usagef("flag --output: is the form of --list: want --list with it, or --out for the tape's file")
	case len(args) == 0 && !f.list:
		return usagef("found no scenario: want its name or its file; nodesim simulate --list shows the names")
	}
	if err := arguments(0, 1, "one scenario")(cmd, args); err != nil {
		return err
	}
	output := ""
	if cmd.Flags().Changed("output") {
		output = f.format.value
	}
	return f.live.check(cmd, output, f.out)
}

// tell writes about all scenarios, or about one.
func (f *simulateFlags) tell(cmd *cobra.Command) error {
	out := cmd.OutOrStdout()
	var some []scenarios.Scenario
	if f.scenario.word == "" {
		some = scenarios.All()
	} else {
		one, err := f.scenario.find(cmd, "")
		if err != nil {
			return err
		}
		some = []scenarios.Scenario{one}
	}
	switch {
	case f.format.value == "json":
		_, err := out.Write(simulate.JSON(some))
		return err
	case f.scenario.word != "":
		return simulate.Describe(out, some[0])
	}
	return simulate.List(out, some)
}

// print writes the scenario's file.
func (f *simulateFlags) print(cmd *cobra.Command) error {
	s, err := f.scenario.find(cmd, "")
	if err != nil {
		return err
	}
	if s.Document == nil {
		return fmt.Errorf("scenario %s: it was made by hand and has no file: want another one, such as surge", s.Name)
	}
	_, err = io.WriteString(cmd.OutOrStdout(), s.Document.Text())
	return err
}

// simulateMemory is the limit that a simulation tries to stay under. The objects of 15,000 nodes with 450,000 pods take half
// of it; without a limit the collector would let garbage grow to more than the rest. Larger clusters have so much for
// each pod: where the objects alone reach the limit, the collector never rests.
const (
	simulateMemory       = 1800 << 20
	simulateMemoryPerPod = simulateMemory / 450_000
)

// memoryOf is the limit of a simulation of a file.
func memoryOf(f *scenarios.File) int64 {
	pods := int64(0)
	if f != nil {
		for i := range f.Workloads {
			pods += int64(f.Workloads[i].Replicas)
		}
	}
	return max(simulateMemory, pods*simulateMemoryPerPod)
}

// simulateGarbage bounds how much garbage a simulation gathers, in percent of what
// lives. Nearly all that it makes while a cluster is built stays, and what small
// clusters throw away isn't worth a collection.
const simulateGarbage = 400

// setGCPercent sets a percentage unless GOGC has.
func setGCPercent(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// run writes the tape.
func (f *simulateFlags) run(cmd *cobra.Command) error {
	src, err := f.scenario.source(cmd, "")
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if f.out != "-" {
		if err := needOut(f.out); err != nil {
			return err
		}
	}
	boundMemory(memoryOf(src.File))
	setGCPercent(simulateGarbage)
	errOut := cmd.ErrOrStderr()
	status := &simulate.Status{Out: errOut, Width: terminal.Width(errOut)}
	var sum simulate.Summary
	if f.out == "-" {
		defer ignoreSIGPIPE()()
		if terminal.Is(out) {
			status = nil // its line would be in the middle of the tape
		}
		sum, err = simulate.Write(cmd.Context(), src, out, status)
		err = suppressBrokenPipe(err)
	} else {
		sum, err = simulate.Run(cmd.Context(), src, f.out, status)
	}
	if err == nil {
		simulate.Summarize(errOut, f.out, sum)
	}
	return err
}
