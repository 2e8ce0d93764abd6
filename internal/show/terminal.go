package show

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

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
	screen := t.Screen
	if screen == nil {
		screen = NewScreen(t.Out)
	}
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	length := make(chan time.Duration, 1)
	reading.Go(func() { length <- tape.Length(ctx) })
	// Most tapes are short: then the first panel has its bar already.
	var duration time.Duration
	select {
	case duration = <-length:
	case <-time.After(50 * time.Millisecond):
	}

	p := painter{screen: screen, terminal: t, view: d.View}
	d.Sink = quiet{}
	err := Paced(ctx, tape, r, d, Watcher{Keys: t.Keys, Look: func(s replay.Status) error {
		select {
		case duration = <-length:
		default:
		}
		return p.paint(s, min(duration, d.To))
	}}, opts...)
	if t.Screen != nil {
		return err
	}
	// What stays has no empty lines, and no keys to press.
	p.last = true
	return errors.Join(err, p.paint(p.status, min(duration, d.To)), screen.Close())
}

// quiet is the Sink of a screen, which looks by itself.
type quiet struct{}

func (quiet) Entries([]noderoll.Entry) error { return nil }
func (quiet) Moment(*View) error             { return nil }

// painter repaints a panel.
type painter struct {
	screen        *render.Screen
	terminal      Terminal
	view          *View
	width, height int
	status        replay.Status
	last          bool
}

const hint = "space pause, q quit"

func (p *painter) paint(s replay.Status, duration time.Duration) error {
	if width, height := p.terminal.Size(); width != p.width || height != p.height {
		p.width, p.height = width, height
		p.screen.Invalidate()
	}
	f := p.view.Frame()
	f.Position, f.Duration, f.Paused, f.Speed = s.Position, duration, s.Paused, s.Speed.String()
	p.status = s
	switch {
	case p.last:
	case p.terminal.Keys == nil:
		f.Hint = "ctrl-c quit"
	default:
		f.Hint = hint
	}
	o := p.terminal.Options
	o.Width, o.Height, o.Fill = p.width, p.height, !p.last
	if p.last {
		o.Height = max(p.height-2, 1) // the shell needs some
	}
	return p.screen.Draw(render.Panel(f, o))
}
