package record

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// Import makes a tape of a dump in a file that must not exist. Where that fails
// half-way (a full disk, an interrupt) the file is taken away again: nothing in
// it can't be made once more, and the next try wants the name.
func Import(ctx context.Context, in io.Reader, file string, o recorder.ImportOptions) (recorder.Summary, error) {
	_, err := os.Stat(file)
	if err := creatable(file, err); err != nil {
		return recorder.Summary{}, err
	}
	created := false
	o.Open = func(h timeline.Header) (*timeline.Writer, error) {
		w, err := timeline.Create(file, h)
		created = err == nil
		return w, err
	}
	sum, err := recorder.Import(ctx, in, o)
	if err != nil && created {
		err = errors.Join(err, os.Remove(file))
	}
	return sum, err
}
