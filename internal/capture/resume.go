package capture

import (
	"context"
	"errors"
	"fmt"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// resume goes on with a tape.
func (o Options) resume(ctx context.Context, cfg recorder.Config, until *completion) (recorder.Summary, error) {
	end, err := endOf(o.File)
	if err != nil {
		return recorder.Summary{}, fmt.Errorf("append to %w", err)
	}
	w, at, err := timeline.Append(o.File)
	if err != nil {
		return recorder.Summary{}, err
	}
	if at.Dropped != "" {
		o.Status.Warn(fmt.Sprintf("%s: %s was cut off", o.File, at.Dropped))
	}
	cfg.Out, cfg.Resume = w, at
	sum, began, err := o.goOn(ctx, cfg, until)
	if began {
		return sum, err
	}
	// What the recorder leaves of the Writer it closes; a second time is no harm.
	_ = w.Close()
	return recorder.Summary{}, errors.Join(err, o.putBack(end))
}

// goOn records. began says whether anything may have been written.
func (o Options) goOn(ctx context.Context, cfg recorder.Config, until *completion) (_ recorder.Summary, began bool, _ error) {
	r, err := recorder.New(cfg)
	if err != nil {
		return recorder.Summary{}, false, err
	}
	if err := until.start(cfg.Out.Header()); err != nil {
		return recorder.Summary{}, false, err
	}
	until.take(cfg.Resume)
	sum, err := o.run(ctx, r)
	return sum, sum.Events > 0 || r.Stats().Events > 0, err
}

// endOf returns a tape's END, or nil where it has none.
func endOf(name string) (*timeline.Event, error) {
	r, err := timeline.Open(name, timeline.Lines())
	if err != nil {
		return nil, err
	}
	var end *timeline.Event
	for ev, bad := range r.All() {
		if bad != nil {
			err = bad
		} else if ev.Type == timeline.End {
			end = &ev
		}
	}
	return end, errors.Join(err, r.Close())
}

// putBack ends a tape as it was ended before: the recording that was to go on
// with it never began.
func (o Options) putBack(end *timeline.Event) error {
	if end == nil {
		return nil
	}
	w, _, err := timeline.Append(o.File)
	if err != nil {
		return err
	}
	return errors.Join(w.Write(*end), w.Close())
}
