package timeline

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// codec describes how a tape is compressed, by the ending of its file.
type codec string

const (
	plainText codec = ""
	gzipped   codec = ".gz"
	zstandard codec = ".zst"
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// readAtOnce is the number of bytes that a Reader asks its file for. A larger buffer
// makes no tape faster to read, and a short tape slower.
const readAtOnce = 32 << 10

// decompress recognises a compressed tape by its first bytes.
func decompress(r io.Reader) (io.Reader, io.Closer, error) {
	raw := &zeros{r: r}
	b := bufio.NewReaderSize(raw, readAtOnce)
	start, err := b.Peek(4)
	if err != nil && len(start) == 0 && err != io.EOF {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(start, gzipMagic):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, damaged(gzipped, err)
		}
		// It holds nothing, and its Close would only repeat an error of Read.
		return frames{z, gzipped, b, raw}, nil, nil
	case bytes.HasPrefix(start, zstdMagic):
		// One decoder, no goroutines, and no window above what the Writer makes.
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, nil, damaged(zstandard, err)
		}
		return frames{z, zstandard, b, raw}, z.IOReadCloser(), nil
	}
	return b, nil, nil
}

// frames reads decompressed text and says of errors what they are about.
type frames struct {
	io.Reader
	codec  codec
	packed *bufio.Reader // where the decoder reads on, byte by byte after a frame
	raw    *zeros        // below it
}

func (f frames) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrMagicMismatch):
		if err = damaged(f.codec, err); f.endsInNULs() {
			err = io.ErrUnexpectedEOF // as where the frame was cut off
		}
	default:
		err = damaged(f.codec, err)
	}
	return n, err
}

// endsInNULs reads the rest, where no frame begins, and reports whether there
// is nothing but NULs, as a file system leaves them when the machine lost power.
func (f frames) endsInNULs() bool {
	rest, err := io.Copy(io.Discard, f.packed)
	return err == nil && f.raw.n >= rest+int64(len(zstdMagic)) // the decoder has taken that much at least
}

// zeros counts the NULs at the end of what has been read.
type zeros struct {
	r io.Reader
	n int64
}

func (z *zeros) Read(p []byte) (int, error) {
	n, err := z.r.Read(p)
	if tail := n - len(bytes.TrimRight(p[:n], "\x00")); tail < n {
		z.n = int64(tail)
	} else {
		z.n += int64(n)
	}
	return n, err
}

func damaged(c codec, err error) *Error {
	f := fault("whole frames", "%s: %s", c.name(), err)
	f.cause = err
	return f
}
