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
}

// OnTerminal plays a tape on a terminal and gives the terminal back, whatever
// happens; the last panel stays. KeyQuit and the end of ctx are no errors.
func OnTerminal(ctx context.Context, tape *Tape, d *Driver, t Terminal, opts ...replay.PlayerOption) error {
	screen := render.NewScreen(t.Out, render.ScreenOptions{Terminal: true, Alternate: true})
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
	err := Paced(ctx, tape, d, Watcher{Keys: t.Keys, Look: func(s replay.Status) error {
		select {
		case duration = <-length:
		default:
		}
		return p.paint(s, min(duration, d.To))
	}}, opts...)
	if errors.Is(err, ErrQuit) || errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, screen.Close())
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
}

const hint = "space pause  q quit"

func (p *painter) paint(s replay.Status, duration time.Duration) error {
	if width, height := p.terminal.Size(); width != p.width || height != p.height {
		p.width, p.height = width, height
		p.screen.Invalidate()
	}
	f := p.view.Frame()
	f.Position, f.Duration, f.Paused, f.Speed = s.Position, duration, s.Paused, s.Speed.String()
	f.Hint = hint
	if p.terminal.Keys == nil {
		f.Hint = "ctrl-c quit"
	}
	o := p.terminal.Options
	o.Width, o.Height, o.Fill = p.width, p.height, true
	return p.screen.Draw(render.Panel(f, o))
}
