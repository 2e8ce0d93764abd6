package formats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
	u, err := unpack(in)
	if err != nil {
		return nil, err
	}
	f, err := detect(u.head)
	if err != nil {
		return nil, err
	}
	switch s, ok := in.(io.Seeker); {
	case f.convert != nil:
	case !u.same: // whether it is cut off is known at its end
		f.convert = func(_ context.Context, in io.Reader, w *writer) error {
			_, err := io.Copy(w.out, in)
			return err
		}
	default: // as it came, so that it can be read twice without a copy
		if ok {
			if _, err := s.Seek(0, io.SeekStart); err == nil {
				return &Dump{Reader: in}, nil
			}
		}
		return &Dump{Reader: u}, nil
	}
	d, err := convert(func(w *writer) error {
		err := f.convert(ctx, u, w)
		if u.cut && (err != nil || f.whole) {
			err = errors.Join(errors.New("the compressed data end in the middle"), err)
		}
		return err
	}, f.name)
	if err == nil && u.cut {
		d.Torn = max(d.Torn, 1)
	}
	return d, err
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
		var skipped []string
		err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			name := filepath.ToSlash(path)
			plain := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
			if !s.wants(plain) {
				return nil
			}
			if plain != name || !d.Type().IsRegular() {
				skipped = append(skipped, name)
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
		if len(skipped) > 0 {
			w.leave("%d links and compressed files of the folder, such as %.80q", len(skipped), skipped[0])
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
