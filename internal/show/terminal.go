package show

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/control"
	"github.com/nodesim/nodesim/internal/render"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// Terminal is where a panel is repainted.
type Terminal struct {
	Out io.Writer
	// Size is asked before each repaint, in cells.
	Size func() (width, height int)
	// Options of the panel; the size comes from Size.
	Options render.Options
	// Keys may be nil.
	Keys <-chan Key
	// Below is asked for lines to show below the panel, before each repaint. May be
	// nil.
	Below func() []string
	// Screen goes on with one that is open, and leaves it so: a tape that is
	// played again and again. Nil for one of its own, on Out.
	Screen *render.Screen
}

// NewScreen returns a screen for a Terminal, to be closed by the caller.
func NewScreen(out io.Writer) *render.Screen {
	return render.NewScreen(out, render.ScreenOptions{Terminal: true, Alternate: true})
}

// OnTerminal is Paced on a terminal, which it gives back, whatever happens; the
// last panel stays.
func OnTerminal(ctx context.Context, tape *Tape, r *timeline.Reader, d *Driver, t Terminal, opts ...replay.PlayerOption) error {
	source := &part{first: r, tape: tape, to: d.To}
	p, err := replay.NewPlayer(source, append(opts, replay.From(d.From), replay.To(d.To))...)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }() // it was only read
	survey := NewSurveyor(ctx, tape)
	defer survey.Close()
	w := Watcher{Control: control.New(p, control.Eyes{Transitions: d.Transitions, Survey: survey.Known})}
	return onTerminal(ctx, p, tape, d, t, w, source.goesOn.Load)
}

// PlayOnTerminal is Play on a terminal, which it gives back, whatever happens; the
// last panel stays. Look and Keys are its own, Control isn't nil.
func PlayOnTerminal(ctx context.Context, p *replay.Player, tape *Tape, d *Driver, t Terminal, w Watcher) error {
	return onTerminal(ctx, p, tape, d, t, w, func() bool { return false })
}

func onTerminal(ctx context.Context, p *replay.Player, tape *Tape, d *Driver, t Terminal, w Watcher, goesOn func() bool) error {
	screen := t.Screen
	if screen == nil {
		screen = NewScreen(t.Out)
	}
	paint := painter{screen: screen, terminal: t, view: d.View}
	d.Sink = quiet{}
	duration := func() time.Duration { return min(w.Control.Duration(), d.To) }
	w.Keys, w.Pressed, w.Say = t.Keys, paint.pressed, paint.say
	w.Look = func(s replay.Status) error { return paint.paint(s, duration()) }
	err := play(ctx, p, tape, d, w, goesOn)
	if t.Screen != nil {
		return err
	}
	// What stays has no empty lines, and no keys to press.
	paint.last = true
	return errors.Join(err, paint.paint(paint.status, duration()), screen.Close())
}

// quiet is the Sink of a screen, which looks by itself.
type quiet struct{}

func (quiet) Entries([]noderoll.Entry) error { return nil }
func (quiet) Moment(*View) error             { return nil }
