package timeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

func codecOf(name string) codec {
	for _, c := range []codec{gzipped, zstandard} {
		if strings.HasSuffix(name, string(c)) {
			return c
		}
	}
	return plainText
}

// Create makes the file name and starts a tape in it, compressed where the
// name ends in .gz or .zst. A file that exists is refused with fs.ErrExist.
func Create(name string, h Header) (*Writer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create timeline %s: %w: append to it, or choose another name", name, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("create timeline: %w", err)
	}
	out, err := sinkFor(f, 0, codecOf(name))
	if err == nil {
		var w *Writer
		if w, err = start(out, h); err == nil {
			return w, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("create timeline %s: %w", name, err), f.Close(), os.Remove(name))
}
