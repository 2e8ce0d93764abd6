package formats

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
)

// maxArchive bounds what of an archive has to be in memory.
const maxArchive = 1 << 30

// eachInTar calls f for each file of an archive. Nothing is unpacked to disk, so that names can't
// lead anywhere.
func eachInTar(ctx context.Context, in io.Reader, f func(name string, r io.Reader) error) error {
	t := tar.NewReader(in)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := f(path.Clean("/" + h.Name)[1:], t); err != nil {
			return fmt.Errorf("archive: %s: %w", h.Name, err)
		}
	}
}
