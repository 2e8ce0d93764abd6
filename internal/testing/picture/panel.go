package picture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/replay/observe"
)

// Shot says what a picture of a tape shows.
type Shot struct {
	At            time.Duration // position on the tape
	Width, Height int           // cells; a panel may need fewer lines
	Speed         string        // as the status line shows it: "10x"
	Hint          string        // what the keys do
}

// Panel returns the panel of a tape at a position, in all its colours. A tape
// that ends before is an error.
func Panel(ctx context.Context, path string, s Shot) (panel string, err error) {
	tape := ui.File(path, nil)
	length := tape.Length(ctx)
	if s.At < 0 || s.At > length {
		return "", fmt.Errorf("tape %s: no panel at %s: want a position from 0s to the tape's end at %s", path, s.At, length)
	}
	r, err := tape.Reader()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		return "", fmt.Errorf("tape %s: %w", path, err)
	}
	view := ui.NewView(r.Header(), o)
	d := ui.NewDriver(view, ui.NewFeedWriter(io.Discard))
	d.To = s.At
	if err := ui.Through(ctx, r, d); err != nil {
		return "", err
	}
	view.Advance(s.At)
	f := view.Frame()
	f.Position, f.Duration, f.Speed, f.Hint = s.At, length, s.Speed, s.Hint
	return render.Panel(f, render.Options{Width: s.Width, Height: s.Height, Profile: render.TrueColor}), nil
}
