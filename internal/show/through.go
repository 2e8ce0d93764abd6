package show

import (
	"context"
	"errors"
	"io"

	"github.com/nodesim/nodesim/timeline"
)

// Through reads a tape to its end, or behind d.To, as fast as it can. The error
// is the tape's, the Sink's or the context's; what comes before it was shown.
func Through(ctx context.Context, r *timeline.Reader, d *Driver) error {
	for n := 1; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return d.End()
		}
		if err != nil {
			return errors.Join(err, d.End())
		}
		if ev.At > d.To {
			return d.End()
		}
		if err := d.Event(ev); err != nil {
			return err
		}
	}
}
