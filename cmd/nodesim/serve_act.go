package main

import (
	"time"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/spf13/cobra"
)

// act makes the cluster of --writes act, which begins now, and what stands for its tape.
func (f *serveFlags) act(cmd *cobra.Command, args []string) (*ui.Tape, error) {
	if len(args) > 0 || f.scenario.word == "" {
		return nil, usagef("flag --writes act: a tape can't change: want --simulate SCENARIO with it")
	}
	for _, name := range []string{"loop", "from", "to", "idle-limit", "exit-at-end", "shift-times"} {
		if cmd.Flags().Changed(name) {
			return nil, usagef("flag --%s: a cluster that takes writes has no tape yet: want --writes act without it", name)
		}
	}
	if f.speed.Speed >= replay.Max {
		return nil, usagef("flag --speed max: a cluster that takes writes has no end to run to: want a number, such as 100x")
	}
	src, err := f.scenario.source(cmd, "flag --simulate: ")
	if err != nil {
		return nil, err
	}
	if src.File == nil {
		return nil, usagef("flag --simulate %s: it is a tape and has no cluster: want another scenario with --writes act, such as surge", f.scenario.word)
	}
	src.File.Start = time.Now().UTC().Truncate(time.Second)
	acting, err := src.File.Act(scenarios.ActConfig{AtRest: f.atRest})
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
	f.shift = false // it begins now
	return ui.Acting(src.Scenario.Name), nil
}
