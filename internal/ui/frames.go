package ui

import (
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
)

// FrameWriter is a Sink that draws a panel for each moment that shows
// something.
type FrameWriter struct {
	// Draw takes each panel.
	Draw func(at time.Duration, panel string) error
	// Options of the panels.
	Options render.Options
	// Duration of the tape, 0 where it isn't known; Speed as it is shown.
	Duration time.Duration
	Speed    string
}

// Entries implements Sink.
func (w *FrameWriter) Entries([]noderoll.Entry) error { return nil }

// Moment implements Sink.
func (w *FrameWriter) Moment(v *View) error {
	f := v.Frame()
	f.Duration, f.Speed = w.Duration, w.Speed
	return w.Draw(f.Position, render.Panel(f, w.Options))
}

// Append returns a Draw that appends panels to w, without escape codes.
func Append(w io.Writer) func(time.Duration, string) error {
	screen := render.NewScreen(w, render.ScreenOptions{})
	return func(_ time.Duration, panel string) error { return screen.Draw(panel) }
}
