package tapetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
)

// texts hold the feed and the panel of a tape, as it is in its golden files.
type texts struct{ feed, panel string }

// textsOf plays a tape through.
func textsOf(ctx context.Context, path string) (t texts, err error) {
	tape := ui.File(path, nil)
	length := tape.Length(ctx)
	r, err := tape.Reader()
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		return t, fmt.Errorf("tape %s: %w", path, err)
	}
	var feed, panel bytes.Buffer
	view := ui.NewView(r.Header(), o)
	lines, frames := ui.NewFeedWriter(&feed), framesTo(&panel, length)
	if err := ui.Through(ctx, r, ui.NewDriver(view, sink{lines, frames})); err != nil {
		return t, err
	}
	if err := errors.Join(lines.Flush(), frames.end()); err != nil {
		return t, err
	}
	if err := view.Unmatched(); err != nil {
		return t, fmt.Errorf("tape %s: %w", path, err)
	}
	if lacks := ui.Shortfall(r); lacks != "" {
		fmt.Fprintf(&feed, "# not complete: %s\n", noderoll.OneLine(lacks))
	}
	return texts{feed.String(), panel.String()}, nil
}

type sink struct {
	lines  *ui.FeedWriter
	frames *frames
}

func (s sink) Entries(e []noderoll.Entry) error { return s.lines.Entries(e) }
func (s sink) Moment(v *ui.View) error          { return s.frames.Moment(v) }

// frames chooses the panels of a golden file: each of the first eight moments,
// then every second eight times, every fourth eight times and so on, and always
// the last one. So a long roll has few more panels than a short one, and a
// change late in a roll leaves the panels before it alone.
type frames struct {
	ui.FrameWriter
	out   io.Writer
	step  int
	left  int
	wait  int
	last  string // the latest one, if it wasn't written
	shown bool
}

const framesPerStep = 8

func framesTo(w io.Writer, length time.Duration) *frames {
	f := &frames{out: w, step: 1, left: framesPerStep}
	f.Options = render.Options{Width: 80, Height: 24}
	f.Duration = length
	f.Draw = f.draw
	return f
}

func (f *frames) draw(at time.Duration, panel string) error {
	f.last = fmt.Sprintf("=== %s\n%s\n", noderoll.AppendStamp(nil, at), panel)
	if f.wait > 0 {
		f.wait--
		return nil
	}
	if f.left == 0 {
		f.step, f.left = f.step*2, framesPerStep
	}
	f.left--
	f.wait = f.step - 1
	return f.end()
}

// end writes the latest panel unless that has been done.
func (f *frames) end() error {
	if f.last == "" {
		return nil
	}
	if f.shown {
		f.last = "\n" + f.last
	}
	_, err := io.WriteString(f.out, f.last)
	f.last, f.shown = "", true
	return err
}
