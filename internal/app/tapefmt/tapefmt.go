package tapefmt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/ctxread"
	"github.com/nodesim/nodesim/timeline"
)

// Stream writes the tape in rd to w. name is its name in errors. torn says
// what was missing at the tape's end, see timeline.Format.
func Stream(w io.Writer, rd io.Reader, name string, style timeline.Style) (torn string, err error) {
	buffered := bufio.NewWriterSize(w, 64<<10)
	torn, err = timeline.Format(buffered, rd, style, timeline.Name(name))
	if err == nil {
		err = buffered.Flush()
	}
	return torn, err
}

// File writes the tape in a file to w, uncompressed.
func File(ctx context.Context, w io.Writer, name string, style timeline.Style) (torn string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	return Stream(w, ctxread.Reader(ctx, f), name, style)
}

// InPlace rewrites the tape in a file. A file that has the style already is
// left alone, and changed is false.
func InPlace(ctx context.Context, name string, style timeline.Style) (torn string, changed bool, err error) {
	path, err := filepath.EvalSymlinks(name) // the file, not a link to it, is replaced
	if err != nil {
		return "", false, err
	}
	// A recorder would write on into the file that is replaced.
	release, err := atomicfile.TryLockThere(path)
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return "", false, fmt.Errorf("rewrite %s: a recording is writing it: want it ended first", name)
	case err == nil:
		defer func() { err = errors.Join(err, release()) }()
	}
	old, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = old.Close() }() // it was only read
	info, err := old.Stat()
	if err != nil {
		return "", false, err
	}
	if !info.Mode().IsRegular() {
		return "", false, fmt.Errorf("rewrite %s: found a %s, want a regular file", name, info.Mode().Type())
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".nodesim-fmt-*.tmp")
	if err != nil {
		return "", false, fmt.Errorf("rewrite %s: %w", name, err)
	}
	replaced := false
	defer func() {
		if !replaced {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	torn, err = rewrite(ctx, tmp, old, name, style)
	if err == nil {
		err = errors.Join(tmp.Chmod(info.Mode().Perm()), tmp.Sync())
	}
	if closing := tmp.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", false, err
	}
	if same, err := equal(path, tmp.Name()); same || err != nil {
		return torn, false, err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return "", false, fmt.Errorf("rewrite %s: %w", name, err)
	}
	replaced = true
	return torn, true, nil
}

// rewrite writes the tape in another style, compressed as it was.
func rewrite(ctx context.Context, w io.Writer, rd io.ReadSeeker, name string, style timeline.Style) (torn string, err error) {
	out, err := compressorFor(rd, w)
	if err != nil {
		return "", err
	}
	if torn, err = Stream(out, ctxread.Reader(ctx, rd), name, style); err != nil {
		return "", err
	}
	return torn, out.Close()
}

// equal compares two files.
func equal(a, b string) (same bool, err error) {
	x, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer func() { _ = x.Close() }()
	y, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer func() { _ = y.Close() }()
	left, right := bufio.NewReaderSize(x, 64<<10), bufio.NewReaderSize(y, 64<<10)
	for {
		p, errP := left.ReadByte()
		q, errQ := right.ReadByte()
		switch {
		case errors.Is(errP, io.EOF) && errors.Is(errQ, io.EOF):
			return true, nil
		case errors.Is(errP, io.EOF), errors.Is(errQ, io.EOF):
			return false, nil
		case errP != nil || errQ != nil:
			return false, errors.Join(errP, errQ)
		case p != q:
			return false, nil
		}
	}
}
