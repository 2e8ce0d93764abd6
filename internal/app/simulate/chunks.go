package simulate

import (
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// chunkSize bounds how much text is written at once, and what a compressed frame
// holds: as much as timeline's own, so that a torn tape loses no more.
const chunkSize = 1 << 20

// chunks is where a timeline.Writer's lines go. A timeline.Writer on a file
// writes each line by itself, since a recording can't be made again; ten million
// lines of a simulation can, and are written a mebibyte at a time. Compression
// and the disk have a goroutine of their own, which ends with close.
//
// All methods are for one goroutine, but for size.
type chunks struct {
	file   io.WriteCloser
	encode func(dst, text []byte) ([]byte, error)

	text  []byte      // whole lines that are to be written
	full  chan []byte // to the goroutine
	empty chan []byte // and back
	done  sync.WaitGroup

	written atomic.Int64
	failed  chan struct{} // closed after err
	err     error
}

// newChunks takes over an empty file. The ending of its name says how it is
// compressed.
func newChunks(f io.WriteCloser, name string) (*chunks, error) {
	encode, err := encoding(name)
	if err != nil {
		return nil, err
	}
	const buffers = 3 // one is filled, one is written, one waits
	c := &chunks{
		file: f, encode: encode,
		full: make(chan []byte, buffers), empty: make(chan []byte, buffers), failed: make(chan struct{}),
	}
	for range buffers - 1 {
		c.empty <- nil
	}
	c.done.Go(func() {
		var packed []byte
		for text := range c.full {
			if c.err == nil {
				if packed, c.err = c.put(packed[:0], text); c.err != nil {
					close(c.failed)
				}
			}
			c.empty <- text
		}
	})
	return c, nil
}

// encoding returns how a chunk is compressed, or nil for plain text.
func encoding(name string) (func(dst, text []byte) ([]byte, error), error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		z, err := gzip.NewWriterLevel(io.Discard, gzip.DefaultCompression)
		return func(dst, text []byte) ([]byte, error) {
			out := appender(dst)
			z.Reset(&out)
			_, err := z.Write(text)
			err = errors.Join(err, z.Close()) // before out is looked at
			return out, err
		}, err
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(chunkSize))
		return func(dst, text []byte) ([]byte, error) { return z.EncodeAll(text, dst), nil }, err
	}
	return nil, nil
}

type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// put writes a chunk to the file. The bytes of packed are used again.
func (c *chunks) put(packed, text []byte) ([]byte, error) {
	out := text
	if c.encode != nil {
		var err error
		if packed, err = c.encode(packed, text); err != nil {
			return packed, err
		}
		out = packed
	}
	n, err := c.file.Write(out)
	c.written.Add(int64(n))
	return packed, err
}

// Write takes whole lines. An error may be that of an earlier chunk.
func (c *chunks) Write(p []byte) (int, error) {
	c.text = append(c.text, p...)
	if len(c.text) < chunkSize {
		return len(p), nil
	}
	return len(p), c.flush()
}

// flush hands over what has been taken as a chunk of its own.
func (c *chunks) flush() error {
	select {
	case <-c.failed:
		return c.err
	default:
	}
	if len(c.text) == 0 {
		return nil
	}
	c.full <- c.text
	c.text = (<-c.empty)[:0]
	return nil
}

// size is the number of bytes in the file.
func (c *chunks) size() int64 { return c.written.Load() }

// close writes the rest, and closes the file. It returns the first error.
func (c *chunks) close() error {
	err := c.flush()
	close(c.full)
	c.done.Wait()
	if err == nil {
		err = c.err
	}
	return errors.Join(err, c.file.Close())
}
