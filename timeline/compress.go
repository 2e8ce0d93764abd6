package timeline

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// codec is how a tape is compressed, by the ending of its file.
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

// decompress recognises a compressed tape by its first bytes.
func decompress(r io.Reader) (io.Reader, io.Closer, error) {
	b := bufio.NewReaderSize(r, 1<<17)
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
		return frames{z, gzipped}, nil, nil
	case bytes.HasPrefix(start, zstdMagic):
		// One decoder, no goroutines, and no window above what the Writer makes.
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, nil, damaged(zstandard, err)
		}
		return frames{z, zstandard}, z.IOReadCloser(), nil
	}
	return b, nil, nil
}

// frames reads decompressed text and says of errors what they are about.
type frames struct {
	io.Reader
	codec codec
}

func (f frames) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		err = damaged(f.codec, err)
	}
	return n, err
}

func damaged(c codec, err error) *Error {
	f := fault("whole frames", "%s: %s", c.name(), err)
	f.cause = err
	return f
}
