package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/nodesim/nodesim/internal/app/liverun"
	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/nodesim/nodesim/timeline"
)

// run runs the scenario live, removes what live runs have left, or says what
// would be done.
func (f *liveFlags) run(cmd *cobra.Command, s *simulateFlags) (err error) {
	defer func() { err = suppressBrokenPipe(err) }()
	defer cancelOnBrokenPipe(cmd)()
	src, err := s.scenario.source(cmd, "")
	if err != nil {
		return err
	}
	if src.File == nil {
		return fmt.Errorf("scenario %s: it was made by hand and can't run live: want another one, such as surge", src.Scenario.Name)
	}
	if s.out != "" {
		if err := record.Creatable(s.out); err != nil { // before a control plane is started for it
			return err
		}
	}
	opts := []live.Option{live.Speed(f.pace())}
	if simulate.IsFile(s.scenario.word) {
		opts = append(opts, live.CalledBy(quotedPath(s.scenario.word)))
	}
	if f.shards > 0 {
		opts = append(opts, live.Shards(f.shards))
	}
	if f.address != "" {
		opts = append(opts, live.KubeletAddress(f.address))
	}
	held := bufferStderr(cmd)
	config, name, err := f.config(cmd, &opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, config.close()) }()
	opts = append(opts, live.ClusterSpeed(config.speed), live.RenewEvery(f.renew), live.KubeletClients(config.authority))
	ctx, end := config.during(cmd.Context())
	defer end()
	cmd.SetContext(ctx)
	warning := rateLimited(func(err error) { warn(cmd.ErrOrStderr(), "%s", err) })
	switch {
	case f.dry, f.cleanup:
		p, err := live.New(config.rest, src.File, append(opts, live.OnWarning(warning))...)
		if err != nil {
			return err
		}
		if f.dry {
			err = p.DryRun(cmd.Context(), func(line string) { fmt.Fprintln(cmd.OutOrStdout(), noderoll.OneLine(line)) })
			if broken := unread(cmd.Context()); broken != nil {
				return broken
			}
			return f.explain(err, name)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "nodesim: removing what live runs of %s have left\n", noderoll.OneLine(src.File.Metadata.Name))
		report, err := p.Cleanup(cmd.Context())
		if err == nil && report.Removed == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "nothing to remove: no object is labelled %s=%s\n", live.Label, src.File.Metadata.Name)
		} else {
			fmt.Fprint(cmd.ErrOrStderr(), report)
		}
		return err
	}
	if line := f.aboutSpeed(config.speed, src.File); line != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "nodesim: "+line)
	}
	o := liverun.Options{REST: config.rest, File: src.File, Live: opts, Tape: s.out, Warn: func(text string) { warning(errors.New(text)) }}
	if f.keep || f.with { // a cluster of its own goes as a whole
		o.Live = append(o.Live, live.Keep())
	}
	err = f.execute(cmd, s, o, name, config.export, held)
	if config.err != nil && config.err() != nil {
		return config.err() // what else went wrong follows from that
	}
	return err
}

// execute runs it live, with a panel or the feed; export, where there is one, is
// the line that leads clients there, and stays in sight below the panel.
func (f *liveFlags) execute(cmd *cobra.Command, s *simulateFlags, o liverun.Options, name, export string, held *terminal.Stderr) error {
	out := cmd.OutOrStdout()
	file, isTerminal := terminal.Of(out)
	o.Say = func(line string) { fmt.Fprintf(cmd.ErrOrStderr(), "nodesim: %s\n", noderoll.OneLine(line)) }
	output := s.format.value
	if !cmd.Flags().Changed("output") {
		output = "feed"
		if isTerminal {
			output = "panel"
		}
	}
	feed := ui.NewFeedWriter(out)
	feed.JSON, feed.Verbose, feed.Live = output == "json", f.verbose, true
	if isTerminal && output == "panel" {
		painted, err := panelOptions(cmd, out)
		if err != nil {
			return err
		}
		o.Terminal = liveTerminal(cmd, file, painted, held)
		if export != "" {
			o.Terminal.Below = func() []string { return []string{export} }
		}
	}
	o.Driver = func(h *timeline.Header) (*ui.Driver, error) {
		viewOptions, err := observe.OptionsFor(h, "", "", "")
		if err != nil {
			return nil, err
		}
		d := ui.NewDriver(ui.NewView(h, viewOptions), feed)
		if output == "panel" {
			d.Sink = &ui.FrameWriter{Draw: ui.Append(out), Options: render.Options{Width: 80, Height: 24}}
		} else {
			d.View.FeedOnly = true
		}
		d.View.Verbose = f.verbose
		return d, nil
	}
	if output == "none" {
		o.Driver = nil
	}
	enough := func() {}
	if f.shards < 2 { // what other processes have is in its memory too, and collections would take half of its time
		enough = liverun.TuneGC(cmd.Context())
	}
	report, err := liverun.Run(cmd.Context(), o)
	enough()
	if report.Position > 0 || report.Removed > 0 || report.Others || report.Standby {
		fmt.Fprint(cmd.ErrOrStderr(), report)
	}
	if broken := unread(cmd.Context()); broken != nil {
		return broken
	}
	switch {
	case errors.Is(err, context.Canceled):
		interrupted := fmt.Errorf("interrupted at %s", noderoll.AppendStamp(nil, report.Shown))
		err = errors.Join(append([]error{interrupted}, besides(err, context.Canceled)...)...)
	case err == nil && s.out != "" && !report.Standby:
		fmt.Fprintf(cmd.ErrOrStderr(), "see it again: nodesim replay %s\n", record.Quote(s.out))
		if report.Gaps > 0 {
			err = &exitError{exitGaps, gapsError(s.out, report.Gaps)}
		}
	}
	return f.explain(err, name)
}

// besides are the parts of a joined error that aren't the given one.
func besides(err, is error) (others []error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, part := range joined.Unwrap() {
			others = append(others, besides(part, is)...)
		}
		return others
	}
	if err != nil && !errors.Is(err, is) {
		return []error{err}
	}
	return nil
}

// bufferStderr has what is written to standard error wait while it has to, where that
// is a terminal.
func bufferStderr(cmd *cobra.Command) *terminal.Stderr {
	held := &terminal.Stderr{Out: cmd.ErrOrStderr()}
	if _, isTerminal := terminal.Of(held.Out); isTerminal {
		cmd.SetErr(held)
	}
	return held
}

// liveTerminal paints the panel of a live run. While it is shown, keys
// are read and held lines wait.
func liveTerminal(cmd *cobra.Command, file *os.File, o render.Options, held *terminal.Stderr) *ui.Terminal {
	keys := terminal.NewKeyboard(cmd.InOrStdin())
	hold := terminal.Holder(cmd.Context(), file, keys, held)
	return &ui.Terminal{
		Out: file, Options: o, Keys: terminal.Keys(keys), Size: func() (int, int) { return terminal.Size(file) },
		Hold: func(s *render.Screen) func() {
			_ = held.Resume() // never fails
			keys.Open()
			release := hold(s)
			return func() {
				release()
				keys.Close()
				_ = held.Suspend() // what standard error doesn't take is lost
			}
		},
	}
}
