package tapefmt

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// frameSize bounds how much text a frame holds, about: what a torn end costs.
const frameSize = 1 << 20

// framed compresses what it is given, a frame at a time.
type framed struct {
	w      io.Writer
	encode func(text []byte) ([]byte, error) // nil for plain text
	text   []byte
}

// compressorFor returns a writer that compresses as rd is compressed, by its
// first bytes, and leaves rd at its beginning.
func compressorFor(rd io.ReadSeeker, w io.Writer) (io.WriteCloser, error) {
	var start [4]byte
	n, err := io.ReadFull(rd, start[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if _, err := rd.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	f := &framed{w: w}
	switch {
	case bytes.HasPrefix(start[:n], []byte{0x1f, 0x8b}): // RFC 1952
		f.encode = func(text []byte) ([]byte, error) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, err := z.Write(text)
			err = errors.Join(err, z.Close()) // before the bytes are looked at
			return b.Bytes(), err
		}
	case bytes.HasPrefix(start[:n], []byte{0x28, 0xb5, 0x2f, 0xfd}): // RFC 8878
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(frameSize))
		if err != nil {
			return nil, err
		}
		f.encode = func(text []byte) ([]byte, error) { return z.EncodeAll(text, nil), nil }
	}
	return f, nil
}

// Write implements io.Writer.
func (f *framed) Write(p []byte) (int, error) {
	if f.encode == nil {
		return f.w.Write(p)
	}
	f.text = append(f.text, p...)
	if len(f.text) < frameSize {
		return len(p), nil
	}
	return len(p), f.Close()
}

// Close ends the frame.
func (f *framed) Close() error {
	if f.encode == nil || len(f.text) == 0 {
		return nil
	}
	frame, err := f.encode(f.text)
	f.text = f.text[:0]
	if err == nil {
		_, err = f.w.Write(frame)
	}
	return err
}
