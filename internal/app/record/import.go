package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/nodesim/nodesim/internal/version"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/formats"
	"github.com/nodesim/nodesim/timeline"
)

// Import makes a tape of a dump, or of what another program has recorded, in a file
// that must not exist. Where that fails half-way (a full disk, an interrupt) the file
// is taken away again: nothing in it can't be made once more, and the next try wants the name.
func Import(ctx context.Context, in io.Reader, file string, o recorder.ImportOptions) (recorder.Summary, error) {
	return importDump(ctx, func() (*formats.Dump, error) { return formats.Open(ctx, in) }, file, o)
}

// ImportFolder is Import of a folder.
func ImportFolder(ctx context.Context, folder, file string, o recorder.ImportOptions) (recorder.Summary, error) {
	return importDump(ctx, func() (*formats.Dump, error) { return formats.OpenFolder(ctx, folder) }, file, o)
}

func importDump(ctx context.Context, open func() (*formats.Dump, error), file string, o recorder.ImportOptions) (recorder.Summary, error) {
	_, err := os.Stat(file)
	if err := creatable(file, err); err != nil {
		return recorder.Summary{}, err
	}
	dump, err := open()
	if err != nil {
		return recorder.Summary{}, fmt.Errorf("import %s: %w", o.Input, err)
	}
	defer dump.Close()
	o.Torn = dump.Torn
	created := false
	o.Open = func(h timeline.Header) (*timeline.Writer, error) {
		h.Source.Program = version.Program()
		w, err := timeline.Create(file, h)
		created = err == nil
		return w, err
	}
	sum, err := recorder.Import(ctx, dump.Reader, o)
	sum.Format, sum.LeftOut = dump.Format, append(dump.LeftOut, sum.LeftOut...)
	if err != nil && created {
		err = errors.Join(err, os.Remove(file))
	}
	return sum, err
}
