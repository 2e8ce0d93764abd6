package record

import (
	"context"
	"errors"
	"fmt"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// resume continues with a tape. A recording that never begins leaves the tape as
// it was: Append changes it with the first line.
func (o Options) resume(ctx context.Context, cfg recorder.Config, until *completion) (recorder.Summary, error) {
	release, err := Lock(o.File)
	if err != nil {
		return recorder.Summary{}, fmt.Errorf("append to timeline: %w", err)
	}
	defer func() { _ = release() }() // it was opened for its lock alone
	w, at, err := timeline.Append(o.File)
	if err != nil {
		return recorder.Summary{}, err
	}
	if at.Dropped != "" {
		o.Status.Warn(fmt.Sprintf("%s: %s was cut off", o.File, at.Dropped))
	}
	if was := w.Header().Metadata.Name; o.Named && was != cfg.Name {
		err := fmt.Errorf("append: name %q, want the tape's %q; leave --name out, or record into another file", cfg.Name, was)
		return recorder.Summary{}, errors.Join(err, w.Close())
	}
	cfg.Out, cfg.Resume = w, at
	sum, began, err := o.goOn(ctx, cfg, until)
	if began {
		return sum, err
	}
	// What the recorder leaves of the Writer it closes; a second time is no harm.
	_ = w.Close()
	return recorder.Summary{}, err
}

// goOn records. began reports whether anything may have been written.
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
