package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
	"github.com/spf13/cobra"
)

// check refuses flags that contradict each other, and chooses the output.
func (f *replayFlags) check(cmd *cobra.Command, args []string) error {
	_, isTerminal := terminal.Of(cmd.OutOrStdout())
	if f.output.value == "" {
		f.output.value = "feed"
		if isTerminal {
			f.output.value = "panel"
		}
	}
	repainted := isTerminal && f.output.value == "panel" && !f.apply.on
	if err := f.checkPart(); err != nil {
		return err
	}
	switch {
	case f.paused && !repainted:
		return usagef("flag --start-paused: want a panel on a terminal, where a key can end the pause")
	case f.loop && !repainted && (f.speed.Speed == 0 && !f.apply.on || f.speed.Speed == replay.Max):
		return usagef("flag --loop: want a pace with it, such as --speed 20x")
	case f.loop && slices.Contains(args, "-"):
		return usagef("flag --loop: standard input can be read once only: want a file")
	}
	return nil
}

// checkPart refuses a part of the tape that can't be played; without --to it goes
// to the end.
func (f *replayFlags) checkPart() error {
	if !f.to.given {
		f.to.Duration = replay.End
	}
	switch {
	case f.to.Duration < f.from.Duration:
		return usagef("flag --to %s: lies before --from %s", f.to.String(), f.from.String())
	case f.idle < 0:
		return usagef("flag --idle-limit %s: want a time above 0, such as 10s", f.idle)
	}
	return f.pods.check()
}

// run plays the tape, as often as was asked for.
func (f *replayFlags) run(cmd *cobra.Command, tape *ui.Tape) (err error) {
	if file, isTerminal := terminal.Of(cmd.OutOrStdout()); isTerminal && f.output.value == "panel" {
		keys := terminal.ReadKeys(cmd.InOrStdin())
		defer keys.Close()
		f.typed, f.hold = terminal.Typed(keys), terminal.Holder(cmd.Context(), file, keys)
		if f.loop {
			f.screen = ui.NewScreen(file)
			defer f.hold(f.screen)()
			defer func() { err = errors.Join(err, f.screen.Close()) }()
		}
	}
	for {
		err := f.once(cmd, tape)
		switch {
		case errors.Is(err, ui.ErrQuit):
			return nil
		case err != nil || !f.loop || cmd.Context().Err() != nil:
			return err
		}
	}
}

// once plays the tape once.
func (f *replayFlags) once(cmd *cobra.Command, tape *ui.Tape) error {
	d, r, err := f.driver(tape)
	if err != nil {
		return err
	}
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	file, isTerminal := terminal.Of(out)
	switch {
	case isTerminal && f.output.value == "panel":
		var o render.Options
		if o, err = panelOptions(cmd, out); err != nil {
			return errors.Join(err, r.Close())
		}
		t := ui.Terminal{Out: file, Screen: f.screen, Hold: f.hold, Options: o, Typed: f.typed, Size: func() (int, int) { return terminal.Size(file) }}
		f.reads(&t, cmd, tape)
		err = ui.OnTerminal(ctx, tape, r, d, t, f.options(1)...)
	case f.speed.Speed == 0 || f.speed.Speed == replay.Max:
		way := ui.Through
		if tape.Streams() {
			way = ui.Follow
		}
		err = f.piped(cmd, tape, d, tape.Streams(), func() error { return way(ctx, r, d) })
	default:
		err = f.piped(cmd, tape, d, true, func() error {
			return ui.Paced(ctx, tape, r, d, ui.Watcher{}, f.options(1)...)
		})
	}
	if err = verdict(cmd, tape, d, r, err); err == nil {
		err = f.found(tape, d.View)
	}
	return errors.Join(err, r.Close())
}

// driver opens the tape and looks at it with the view options that were asked for.
func (f *replayFlags) driver(tape *ui.Tape) (*ui.Driver, *timeline.Reader, error) {
	r, err := tape.Reader()
	if err != nil {
		return nil, nil, err
	}
	d, err := f.newDriver(tape, r.Header())
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return d, r, nil
}

// scope is what was asked for in place of what a tape's header says.
func (f *replayFlags) scope() analyse.Scope {
	return analyse.Scope{
		Provider: f.named(), Nodegroup: f.nodegroup, Target: f.target, Pods: analyse.Pods{Selector: f.pods.pods, Namespace: f.pods.namespace},
	}
}

// named is the provider that was asked for: "" leaves it to the tape.
func (f *replayFlags) named() string {
	if f.provider.value == "auto" {
		return ""
	}
	return f.provider.value
}

// newDriver looks at a tape as was asked for.
func (f *replayFlags) newDriver(tape *ui.Tape, h *timeline.Header) (*ui.Driver, error) {
	o, err := f.scope().Options(tape, h)
	if err != nil {
		return nil, err
	}
	d := ui.NewDriver(ui.NewView(h, o), nil)
	d.From, d.To, d.View.Verbose = f.from.Duration, f.to.Duration, f.verbose
	return d, nil
}

// piped plays the tape into a pipe or a file.
func (f *replayFlags) piped(cmd *cobra.Command, tape *ui.Tape, d *ui.Driver, live bool, play func() error) error {
	out := cmd.OutOrStdout()
	if f.output.value == "panel" {
		d.Sink = &ui.FrameWriter{
			Draw: ui.Append(out), Options: render.Options{Width: 80, Height: 24},
			Duration: min(tape.Length(cmd.Context()), d.To),
		}
		return play()
	}
	d.View.FeedOnly = true
	feed := ui.NewFeedWriter(out)
	_, isTerminal := terminal.Of(out)
	feed.JSON, feed.Verbose, feed.Live = f.output.value == "json", f.verbose, live || isTerminal
	d.Sink = feed
	return errors.Join(play(), feed.Flush())
}

// verdict explains an error, and says of a tape that isn't whole that it isn't.
func verdict(cmd *cobra.Command, tape *ui.Tape, d *ui.Driver, r *timeline.Reader, err error) error {
	var bad *timeline.Error
	var event *replay.EventError
	switch {
	case errors.Is(err, ui.ErrQuit):
		return err
	case errors.Is(err, context.Canceled):
		if _, isTerminal := terminal.Of(cmd.OutOrStdout()); isTerminal {
			return ui.ErrQuit
		}
		return fmt.Errorf("interrupted at %s: what was shown is not whole", noderoll.AppendStamp(nil, d.View.At()))
	case errors.As(err, &bad), errors.As(err, &event):
		return fmt.Errorf("%w; what was shown ends at %s and is not whole", err, noderoll.AppendStamp(nil, d.View.At()))
	case err != nil:
		return err
	}
	if lacks := ui.Shortfall(r); lacks != "" && d.To == replay.End {
		warn(cmd.ErrOrStderr(), "%s: not complete: %s", tape.Name, lacks)
	}
	return nil
}

// found is the error of a group, a selector or pods, asked for by flags or by the
// tape's own scope, to which nothing on the tape belongs.
func (f *replayFlags) found(tape *ui.Tape, v *ui.View) error {
	if err := v.Unmatched(); err != nil {
		return fmt.Errorf("tape %s: %w", tape.Name, err)
	}
	return nil
}

// notWhole is the error of a tape that had to be complete.
func notWhole(tape string, r *timeline.Reader) error {
	return fmt.Errorf("tape %s: not complete: %s", tape, ui.Shortfall(r))
}
