package formats

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nodesim/nodesim/recorder/auditlog"
)

// Dump is what an input was turned into.
type Dump struct {
	// Reader can be read twice, as an import does. Of a dump that needs no conversion it is the
	// input itself.
	io.Reader
	// Format is who wrote the input, for people; "" of a dump of watch events.
	Format string
	// LeftOut says what isn't in the dump, for people.
	LeftOut []string
	// Torn is how many bytes at the input's end were no whole value.
	Torn int64

	file *os.File
}

// Close takes away what Open has made. It doesn't close the input.
func (d *Dump) Close() {
	if d.file != nil {
		_ = d.file.Close() // it is thrown away
		_ = os.Remove(d.file.Name())
	}
}

// Open reads an input whose format it finds out.
func Open(ctx context.Context, in io.Reader) (*Dump, error) {
	head, rest, packed, err := sniff(in)
	if err != nil {
		return nil, err
	}
	f, err := detect(head)
	if err != nil {
		return nil, err
	}
	if f.convert == nil { // as it came, so that it can be read twice without a copy
		if s, ok := in.(io.Seeker); ok && !packed {
			if _, err := s.Seek(0, io.SeekStart); err == nil {
				return &Dump{Reader: in}, nil
			}
		}
		return &Dump{Reader: rest}, nil
	}
	return convert(func(w *writer) error { return f.convert(ctx, rest, w) }, f.name)
}

// OpenFolder reads a folder: what must-gather or kubectl cluster-info dump has left.
func OpenFolder(ctx context.Context, name string) (*Dump, error) {
	root, err := os.OpenRoot(name) // links don't lead out of it
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	files := root.FS()
	return convert(func(w *writer) error {
		s := newStates()
		err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !s.wants(filepath.ToSlash(path)) {
				return nil
			}
			f, err := files.Open(path)
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }() // it was only read
			return s.file(filepath.ToSlash(path), f)
		})
		if err != nil {
			return err
		}
		return s.write(w)
	}, "")
}

// convert runs a converter into a file for the dump.
func convert(run func(*writer) error, format string) (*Dump, error) {
	file, err := os.CreateTemp("", "nodesim-dump-*")
	if err != nil {
		return nil, err
	}
	d := &Dump{Reader: file, Format: format, file: file}
	w := &writer{out: bufio.NewWriterSize(file, 256<<10), dump: d}
	err = run(w)
	if err == nil {
		err = w.out.Flush()
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// auditLog is a converter.
func auditLog(ctx context.Context, in io.Reader, w *writer) error {
	r, err := auditlog.Convert(ctx, in, w.out)
	w.dump.Format, w.dump.LeftOut, w.dump.Torn = r.Format, r.LeftOut, r.Torn
	return err
}

// tooLong is the error of an input that has to be in memory.
func tooLong(what string, limit int64) error {
	return fmt.Errorf("%s: found more than %d MiB, want less: it is read at once", what, limit>>20)
}

// readAll reads what has to be in memory.
func readAll(in io.Reader, what string, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = tooLong(what, limit)
	}
	return b, err
}
