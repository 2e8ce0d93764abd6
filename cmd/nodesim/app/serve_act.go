package app

import (
	"time"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/spf13/cobra"
)

// act makes the cluster of --writes act, in the place of a tape: of a scenario one that begins now, of a tape the one that
// it has at a moment.
func (f *serveFlags) act(cmd *cobra.Command, args []string) (*ui.Tape, error) {
	for _, name := range []string{"loop", "from", "to", "idle-limit", "exit-at-end", "shift-times"} {
		if cmd.Flags().Changed(name) {
			return nil, usagef("flag --%s: a cluster that takes writes has no tape yet: want --writes act without it", name)
		}
	}
	if f.speed.Speed >= replay.Max {
		return nil, usagef("flag --speed max: a cluster that takes writes has no end to run to: want a number, such as 100x")
	}
	make := f.actOnScenario
	if f.at.given || len(args) > 0 {
		make = f.actOnTape
	}
	acting, name, err := make(cmd, args)
	if err != nil {
		return nil, err
	}
	f.engine, f.do = acting, func(text string) error {
		fault, err := spec.ParseFault(text)
		if err != nil {
			return err
		}
		return acting.Do(fault)
	}
	f.shift = false // it has a clock of its own
	return ui.Acting(name), nil
}

func (f *serveFlags) actOnScenario(cmd *cobra.Command, _ []string) (acting *scenarios.Acting, name string, err error) {
	if f.scenario.word == "" {
		return nil, "", usagef("flag --writes act: found no cluster to begin with: want a tape, or --simulate SCENARIO with it")
	}
	src, err := f.scenario.source(cmd, "flag --simulate: ")
	if err != nil {
		return nil, "", err
	}
	if src.File == nil {
		return nil, "", usagef("flag --simulate %s: it is a tape and has no cluster: want another scenario with --writes act, such as surge", f.scenario.word)
	}
	src.File.Start = time.Now().UTC().Truncate(time.Second)
	acting, err = src.File.Act(scenarios.ActConfig{AtRest: f.atRest})
	return acting, "scenario " + src.Scenario.Name, err
}

func (f *serveFlags) actOnTape(cmd *cobra.Command, args []string) (acting *scenarios.Acting, name string, err error) {
	if f.atRest {
		return nil, "", usagef("flag --at-rest: what begins with a tape has no roll and no faults of its own: want it without --at-rest")
	}
	tape, err := f.tape(cmd, args)
	if err != nil {
		return nil, "", err
	}
	acting, err = simcluster.Tape(tape.Source(), f.at.Duration).Engine()
	return acting, tape.Name, err
}
