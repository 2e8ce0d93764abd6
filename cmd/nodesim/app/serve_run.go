package app

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/internal/app/serve"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
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
