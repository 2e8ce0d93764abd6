package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/internal/app/serve"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
	"github.com/spf13/cobra"
)

// serveGarbage bounds how much garbage a server gathers, in percent of what lives.
// The default of 100 takes a quarter more memory, and a tenth less processor time.
const serveGarbage = 50

// run serves the tape until it is ended.
func (f *serveFlags) run(cmd *cobra.Command, tape *ui.Tape) (err error) {
	defer func() { err = suppressBrokenPipe(err) }()
	defer ignoreSIGPIPE()()
	setGCPercent(serveGarbage)
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	file, isTerminal := terminal.Of(out)
	var lines serve.Lines
	var saying sync.Mutex
	say := func(line string) {
		saying.Lock()
		defer saying.Unlock()
		fmt.Fprintf(cmd.ErrOrStderr(), "nodesim: %s\n", noderoll.OneLine(line))
	}
	if isTerminal {
		say = lines.Say
	}
	player := append(f.options(1), replay.From(f.from.Duration), replay.To(f.to.Duration))
	if f.loop {
		player = append(player, replay.Loop())
	}
	var server []apiserver.Option
	if f.shift {
		server = append(server, apiserver.ShiftTimes())
	}
	if f.engine != nil || f.writes.value == "record" || f.writesOut != "" {
		w, failed := serve.NewWrites(say, f.writesOut)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		take := apiserver.RecordWrites
		if f.engine != nil {
			take = apiserver.KeepWrites
		}
		server = append(server, take(w.Record))
	}
	feed := ui.NewFeedWriter(out)
	feed.Verbose = f.verbose
	s, err := serve.Open(ctx, serve.Options{
		Tape: tape, Engine: f.engine, Do: f.do, Driver: func(h *timeline.Header) (*ui.Driver, error) {
			d, err := f.newDriver(tape, h)
			if err == nil && !isTerminal {
				d.Sink, d.View.FeedOnly = feed, true
			}
			return d, err
		},
		Player: player, Server: server, Faults: f.faults,
		Listen: f.listen, Kubeconfig: f.kubeconfig, ExitAtEnd: f.exit, Say: say,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	defer func() {
		if err == nil && s.Player.Status().Ended {
			err = f.found(tape, s.Driver.View)
		}
	}()
	if missing := f.found(tape, s.Driver.View); missing != nil { // it may come later on the tape
		say("warning: at the beginning of " + missing.Error())
	}
	export := "export KUBECONFIG=" + record.Quote(s.Kubeconfig)
	if _, err := fmt.Fprintln(out, export); err != nil {
		return err
	}
	if !isTerminal {
		feed.Live = true
		if err := feed.Flush(); err != nil { // of the first moment, after the line
			return err
		}
		return s.Run(ctx, func(ctx context.Context) error { return s.Show.Play(ctx, ui.Watcher{Control: s.Control}) })
	}
	o, err := panelOptions(cmd, out)
	if err != nil {
		return err
	}
	keys := terminal.ReadKeys(cmd.InOrStdin())
	defer keys.Close()
	t := ui.Terminal{
		Out: file, Options: o, Stays: !f.exit, Typed: terminal.Typed(keys), Hold: terminal.Holder(ctx, file, keys), Size: func() (int, int) { return terminal.Size(file) },
		Below: func() []string { return append([]string{export}, lines.Last()...) },
	}
	f.reads(&t, cmd, tape)
	return s.Run(ctx, func(ctx context.Context) error { return s.Show.PlayOn(ctx, t, s.Control) })
}

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
