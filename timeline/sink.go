package timeline

import (
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// stream is a sink over any io.Writer: a write a line and nothing else.
type stream struct {
	w io.Writer
	n int64
}

func (s *stream) line(p []byte) error {
	n, err := s.w.Write(p)
	s.n += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}

func (s *stream) flush() error   { return nil }
func (s *stream) sync() error    { return nil }
func (s *stream) close() error   { return nil }
func (s *stream) size() int64    { return s.n }
func (s *stream) unwritten() int { return 0 }

// nowhere is a sink that takes nothing.
type nowhere struct{}

func (nowhere) line([]byte) error { return nil }
func (nowhere) flush() error      { return nil }
func (nowhere) sync() error       { return nil }
func (nowhere) close() error      { return nil }
func (nowhere) size() int64       { return 0 }
func (nowhere) unwritten() int    { return 0 }

// file is a sink over a file. What a failed write has left of its line is cut
// off again, so that a full disk leaves whole lines.
type file struct {
	f *os.File
	n int64
	// uncut says that the file still holds after n what the first line is to
	// replace: the end of a tape that is appended to.
	uncut bool
	// keep says that what follows n has lines which are written once more: a write that fails puts it back.
	keep bool
	old  []byte // what was cut, as long as nothing is there in its place
}

// cut removes what follows n.
func (s *file) cut() error {
	if !s.uncut {
		return nil
	}
	s.uncut = false
	if s.keep {
		info, err := s.f.Stat()
		if err != nil {
			return err
		}
		s.old = make([]byte, info.Size()-s.n)
		if _, err := s.f.ReadAt(s.old, s.n); err != nil {
			return err
		}
	}
	if err := s.f.Truncate(s.n); err != nil {
		return err
	}
	_, err := s.f.Seek(s.n, io.SeekStart)
	return err
}

func (s *file) line(p []byte) error {
	if err := s.cut(); err != nil {
		return err
	}
	n, err := s.f.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if n > 0 || s.old != nil {
			err = errors.Join(err, s.f.Truncate(s.n))
		}
		if s.old != nil {
			_, back := s.f.WriteAt(s.old, s.n) // it had room there before
			err = errors.Join(err, back)
		}
		return err
	}
	s.n, s.old = s.n+int64(n), nil
	return nil
}

func (s *file) flush() error   { return nil }
func (s *file) sync() error    { return s.f.Sync() }
func (s *file) close() error   { return s.f.Close() }
func (s *file) size() int64    { return s.n }
func (s *file) unwritten() int { return 0 }

// frameSize bounds how much text a frame holds at the most.
const frameSize = 1 << 20

// framed collects lines and writes them to a file as one compressed frame.
type framed struct {
	file
	encode func(dst, text []byte) ([]byte, error)
	text   []byte
	lines  int // in text, but for those of again
	again  int // bytes of text that the file still holds after its cut
	out    []byte
}

func (s *framed) line(p []byte) error {
	s.text = append(s.text, p...)
	if len(s.text) < frameSize {
		s.lines++
		return nil
	}
	return s.flush()
}

func (s *framed) unwritten() int { return s.lines }

func (s *framed) flush() error {
	if len(s.text) == s.again { // nothing new
		return nil
	}
	s.again = 0
	var err error
	if s.out, err = s.encode(s.out[:0], s.text); err != nil {
		return err
	}
	s.text = s.text[:0]
	err = s.file.line(s.out)
	if err == nil {
		s.lines = 0
	}
	return err
}

// sinkBehind returns the sink that continues with a file at offset n: the first
// line cuts the file there. again are lines that a compressed file holds after
// n, in a frame with others that go; they are written once more.
func sinkBehind(f *os.File, n int64, c codec, again []byte) (sink, error) {
	s := file{f: f, n: n, uncut: true}
	if c == plainText {
		return &s, nil
	}
	s.keep = len(again) > 0
	packed := &framed{file: s, text: append([]byte(nil), again...), again: len(again)}
	return packed, packed.use(c)
}

// sinkFor returns the sink for a file at offset n, by the codec of its name.
func sinkFor(f *os.File, n int64, c codec) (sink, error) {
	s := file{f: f, n: n}
	if c == plainText {
		return &s, nil
	}
	packed := &framed{file: s}
	return packed, packed.use(c)
}

// use makes encode that of a codec.
func (s *framed) use(c codec) error {
	if c == gzipped {
		z, err := gzip.NewWriterLevel(io.Discard, gzip.DefaultCompression)
		s.encode = func(dst, text []byte) ([]byte, error) {
			b := buffer(dst)
			z.Reset(&b)
			_, err := z.Write(text)
			err = errors.Join(err, z.Close()) // before b is looked at
			return b, err
		}
		return err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(frameSize))
	s.encode = func(dst, text []byte) ([]byte, error) { return z.EncodeAll(text, dst), nil }
	return err
}

// buffer is an io.Writer that appends.
type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
