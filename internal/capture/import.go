package capture

import (
	"context"
	"io"
	"os"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// Import makes a tape of a dump in a file that must not exist.
func Import(ctx context.Context, in io.Reader, file string, o recorder.ImportOptions) (recorder.Summary, error) {
	_, err := os.Stat(file)
	if err := creatable(file, err); err != nil {
		return recorder.Summary{}, err
	}
	o.Open = func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(file, h) }
	return recorder.Import(ctx, in, o)
}
