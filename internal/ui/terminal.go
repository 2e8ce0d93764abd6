package ui

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
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
	// Stays says that the panel stays at the end of the tape.
	Stays bool
	// Keys are those of a Live panel, which has only the one that quits. May be nil.
	Keys <-chan player.Key
	// Typed is what is typed at the panel of a tape. Nil is a terminal without keys.
	Typed <-chan []byte
	// Findings reads those of the whole tape, for the keys that lead to them.
	Findings func(context.Context) ([]player.Finding, error)
	// Report writes the report of the tape into a file; ReportName is the one that is proposed, "" where there can be
	// no report.
	Report     func(ctx context.Context, file string) error
	ReportName string
	// Below is asked for lines to show below the panel, before each repaint. May be
	// nil.
	Below func() []string
	// Hold is called with the screen that is about to take the terminal, so that
	// signals can have it given back, and release when it has given it back. May be
	// nil.
	Hold func(*render.Screen) (release func())
	// Screen continues with one that is open, and leaves it so: a tape that is
	// played again and again. Nil for one of its own, on Out.
	Screen *render.Screen
}

// screen is the one to paint on, and done gives the terminal back where that is
// its own.
func (t *Terminal) screen() (screen *render.Screen, done func() error) {
	if t.Screen != nil {
		return t.Screen, func() error { return nil }
	}
	screen = NewScreen(t.Out)
	if t.Hold == nil {
		return screen, screen.Close
	}
	release := t.Hold(screen)
	return screen, func() error {
		defer release()
		return screen.Close()
	}
}

// NewScreen returns a screen for a Terminal, to be closed by the caller.
func NewScreen(out io.Writer) *render.Screen {
	return render.NewScreen(out, render.ScreenOptions{Terminal: true, Alternate: true})
}

// OnTerminal is Paced on a terminal, which it gives back, whatever happens; the
// last panel stays.
func OnTerminal(ctx context.Context, tape *Tape, r *timeline.Reader, d *Driver, t Terminal, opts ...replay.Option) error {
	source := &part{first: r, tape: tape, to: d.To}
	p, err := replay.NewPlayer(source, append(opts, replay.From(d.From), replay.To(d.To))...)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }() // it was only read
	survey := NewSummarizer(ctx, tape)
	defer survey.Close()
	s := Over(p, tape, d)
	defer s.Close()
	s.goesOn = source.goesOn.Load
	return s.PlayOn(ctx, t, control.New(p, control.Sources{Transitions: d.Landmarks, Summary: survey.Known}))
}

// PlayOn is Play on a terminal, which it gives back, whatever happens; the last
// panel stays. The keys move what c moves.
func (s *Show) PlayOn(ctx context.Context, t Terminal, c *control.Control) error {
	screen, done := t.screen()
	d := s.follower.driver
	paint := painter{screen: screen, terminal: t, view: d.View}
	d.Sink = discard{}
	duration := func() time.Duration { return min(c.Duration(), d.To) }
	panel, rest := startPanel(ctx, t, screen)
	defer panel.asked.Wait() // when the terminal is given back
	err := s.Play(ctx, Watcher{
		Keys: panel.keys, Moves: panel.moves, Control: c, Say: panel.say,
		Update: func(status replay.Status) error {
			return panel.show(paint.shown(status, duration(), s.player.Cluster(), panel.looksAt()))
		},
	})
	err = errors.Join(err, rest())
	if t.Screen != nil {
		return err
	}
	// What stays has no empty lines, and no keys to press.
	paint.last = true
	return errors.Join(err, paint.paint(paint.status, duration()), done())
}

// discard is the Sink of a screen, which looks by itself.
type discard struct{}

func (discard) Entries([]noderoll.Entry) error { return nil }
func (discard) Moment(*View) error             { return nil }
