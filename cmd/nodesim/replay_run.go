package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/render"
	"github.com/nodesim/nodesim/internal/show"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
	"github.com/spf13/cobra"
)

// check refuses flags that contradict each other, and chooses the output.
func (f *replayFlags) check(cmd *cobra.Command) error {
	_, terminal := terminalOf(cmd.OutOrStdout())
	if f.output.value == "" {
		f.output.value = "feed"
		if terminal {
			f.output.value = "panel"
		}
	}
	repainted := terminal && f.output.value == "panel"
	if err := f.checkPart(); err != nil {
		return err
	}
	switch {
	case f.paused && !repainted:
		return usagef("flag --start-paused: want a panel on a terminal, where a key can end the pause")
	case f.loop && !repainted && (f.speed.Speed == 0 || f.speed.Speed == replay.Max):
		return usagef("flag --loop: want a pace with it, such as --speed 20x")
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
	case f.pods.pods != "" && f.nodegroup != "":
		return usagef("flags --nodegroup and --pods: found both: want one of them")
	}
	return f.pods.check()
}

// run plays the tape, as often as was asked for.
func (f *replayFlags) run(cmd *cobra.Command, tape *show.Tape) (err error) {
	if file, terminal := terminalOf(cmd.OutOrStdout()); terminal && f.output.value == "panel" {
		keys := readKeys(cmd.InOrStdin())
		defer keys.Close()
		f.keys, f.hold = keysOf(keys), holder(cmd.Context(), file, keys)
		if f.loop {
			f.screen = show.NewScreen(file)
			defer f.hold(f.screen)()
			defer func() { err = errors.Join(err, f.screen.Close()) }()
		}
	}
	for {
		err := f.once(cmd, tape)
		switch {
		case errors.Is(err, show.ErrQuit):
			return nil
		case err != nil || !f.loop || cmd.Context().Err() != nil:
			return err
		}
	}
}

// once plays the tape once.
func (f *replayFlags) once(cmd *cobra.Command, tape *show.Tape) error {
	d, r, err := f.driver(tape)
	if err != nil {
		return err
	}
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	file, terminal := terminalOf(out)
	switch {
	case terminal && f.output.value == "panel":
		var o render.Options
		if o, err = panelOptions(cmd, out); err != nil {
			return errors.Join(err, r.Close())
		}
		t := show.Terminal{Out: file, Screen: f.screen, Hold: f.hold, Options: o, Keys: f.keys, Size: func() (int, int) { return sizeOf(file) }}
		err = show.OnTerminal(ctx, tape, r, d, t, f.options(1)...)
	case f.speed.Speed == 0 || f.speed.Speed == replay.Max:
		way := show.Through
		if tape.Streams() {
			way = show.Follow
		}
		err = f.piped(cmd, tape, d, tape.Streams(), func() error { return way(ctx, r, d) })
	default:
		err = f.piped(cmd, tape, d, true, func() error {
			return show.Paced(ctx, tape, r, d, show.Watcher{}, f.options(1)...)
		})
	}
	if err = verdict(cmd, tape, d, r, err); err == nil {
		err = f.found(tape, d.View)
	}
	return errors.Join(err, r.Close())
}

// driver opens the tape and looks at it with the eyes that were asked for.
func (f *replayFlags) driver(tape *show.Tape) (*show.Driver, *timeline.Reader, error) {
	r, err := tape.Reader()
	if err != nil {
		return nil, nil, err
	}
	d, err := f.eyes(tape, r.Header())
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return d, r, nil
}

// eyes look at a tape as was asked for.
func (f *replayFlags) eyes(tape *show.Tape, h *timeline.Header) (*show.Driver, error) {
	provider := f.provider.value
	if provider == "auto" {
		provider = ""
	}
	o, err := observe.OptionsFor(h, provider, f.nodegroup, f.target)
	if err != nil {
		return nil, fmt.Errorf("tape %s: %w", tape.Name, err)
	}
	if f.pods.pods != "" {
		if err := o.ShowPods(f.pods.namespace, f.pods.pods); err != nil {
			return nil, err
		}
	}
	d := show.NewDriver(show.NewView(h, o), nil)
	d.From, d.To, d.Verbose = f.from.Duration, f.to.Duration, f.verbose
	return d, nil
}

// piped plays the tape into a pipe or a file.
func (f *replayFlags) piped(cmd *cobra.Command, tape *show.Tape, d *show.Driver, live bool, play func() error) error {
	out := cmd.OutOrStdout()
	if f.output.value == "panel" {
		d.Sink = &show.FrameWriter{
			Draw: show.Append(out), Options: render.Options{Width: 80, Height: 24},
			Duration: min(tape.Length(cmd.Context()), d.To),
		}
		return play()
	}
	d.View.FeedOnly = true
	feed := show.NewFeedWriter(out)
	_, terminal := terminalOf(out)
	feed.JSON, feed.Verbose, feed.Live = f.output.value == "json", f.verbose, live || terminal
	d.Sink = feed
	return errors.Join(play(), feed.Flush())
}

// verdict explains an error, and says of a tape that isn't whole that it isn't.
func verdict(cmd *cobra.Command, tape *show.Tape, d *show.Driver, r *timeline.Reader, err error) error {
	var bad *timeline.Error
	var event *replay.EventError
	switch {
	case errors.Is(err, show.ErrQuit):
		return err
	case errors.Is(err, context.Canceled):
		if _, terminal := terminalOf(cmd.OutOrStdout()); terminal {
			return show.ErrQuit
		}
		return fmt.Errorf("interrupted at %s: what was shown is not whole", noderoll.AppendStamp(nil, d.View.At()))
	case errors.As(err, &bad), errors.As(err, &event):
		return fmt.Errorf("%w; what was shown ends at %s and is not whole", err, noderoll.AppendStamp(nil, d.View.At()))
	case err != nil:
		return err
	}
	if lacks := show.Shortfall(r); lacks != "" && d.To == replay.End {
		warn(cmd.ErrOrStderr(), "%s: not complete: %s", tape.Name, lacks)
	}
	return nil
}

// found is the error of a group that was asked for and that no node belongs to.
func (f *replayFlags) found(tape *show.Tape, v *show.View) error {
	if f.pods.pods != "" && !v.HasPods() {
		return f.pods.none(tape.Name)
	}
	groups := slices.DeleteFunc(v.Groups(), func(g string) bool { return g == "" })
	switch {
	case f.nodegroup == "" || slices.Contains(groups, f.nodegroup):
		return nil
	case len(groups) == 0:
		return fmt.Errorf("tape %s: no node of group %q: none of its nodes names a group, leave out --nodegroup", tape.Name, f.nodegroup)
	}
	return fmt.Errorf("tape %s: no node of group %q: want %s", tape.Name, noderoll.OneLine(f.nodegroup), noderoll.OneLine(strings.Join(groups, ", ")))
}

// notWhole is the error of a tape that had to be complete.
func notWhole(tape string, r *timeline.Reader) error {
	return fmt.Errorf("tape %s: not complete: %s", tape, show.Shortfall(r))
}
