package recorder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxValue bounds how long one JSON value of a stream may be. etcd refuses
// requests above 1.5 MiB; managed fields and another encoding can make a
// multiple of that in JSON.
const maxValue = 32 << 20

// splitter cuts a stream of JSON values (an API server's watch, a dump made
// by kubectl, JSON lines) into its values without decoding them: it counts
// braces outside of strings. Whether a value is sound is for others to say.
type splitter struct {
	r    io.Reader
	buf  []byte
	from int // where what wasn't yet asked for begins
	to   int // where what was read ends
	err  error

	offset int64 // of buf[0] in the stream
	line   int   // of buf[from], counted from 1, kept up where lines is set
	lines  bool
}

func newSplitter(r io.Reader, size int) *splitter {
	return &splitter{r: r, buf: make([]byte, size), line: 1}
}

// next returns the next value; its bytes are good until the following call.
// Between values the end of the stream is io.EOF, inside of one it is
// io.ErrUnexpectedEOF.
func (s *splitter) next() ([]byte, error) {
	for {
		s.space()
		if s.from < s.to {
			break
		}
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
	if c := s.buf[s.from]; c != '{' {
		return nil, fmt.Errorf("found %q, want a JSON object", c)
	}
	return s.bracketed()
}

// bracketed returns the object, array or string that begins here.
func (s *splitter) bracketed() ([]byte, error) {
	depth, quoted, i := 0, false, s.from
	for {
		for ; i < s.to; i++ {
			if quoted {
				n := bytes.IndexByte(s.buf[i:s.to], '"')
				if n < 0 {
					i = s.to
					break
				}
				i += n
				if !s.escaped(i) {
					quoted = false
					if depth == 0 {
						return s.take(i + 1), nil
					}
				}
				continue
			}
			switch s.buf[i] {
			case '"':
				quoted = true
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return s.take(i + 1), nil
				}
			}
		}
		scanned := i - s.from
		if scanned >= maxValue {
			return nil, fmt.Errorf("found a value of more than %d MiB, want less", maxValue>>20)
		}
		if err := s.fill(); errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		} else if err != nil {
			return nil, err
		}
		i = s.from + scanned
	}
}

// take returns what is before to, and passes over it.
func (s *splitter) take(to int) []byte {
	value := s.buf[s.from:to]
	s.pass(to)
	return value
}

// escaped reports whether an odd number of backslashes is before i.
func (s *splitter) escaped(i int) bool {
	k := i
	for k > s.from && s.buf[k-1] == '\\' {
		k--
	}
	return (i-k)%2 == 1
}

// space passes over white space.
func (s *splitter) space() {
	i := s.from
	for i < s.to && (s.buf[i] == '\n' || s.buf[i] == ' ' || s.buf[i] == '\r' || s.buf[i] == '\t') {
		i++
	}
	s.pass(i)
}

func (s *splitter) pass(to int) {
	if s.lines {
		s.line += bytes.Count(s.buf[s.from:to], []byte{'\n'})
	}
	s.from = to
}

// place is the offset in the stream of what comes next.
func (s *splitter) place() int64 { return s.offset + int64(s.from) }

// fill reads once more, after what is there; it moves the rest to the front
// and grows the buffer where there is no room.
func (s *splitter) fill() error {
	if s.err != nil {
		return s.err
	}
	if s.from == s.to {
		s.offset += int64(s.from)
		s.from, s.to = 0, 0
	}
	if s.to == len(s.buf) {
		if s.from > 0 {
			s.offset += int64(s.from)
			s.to = copy(s.buf, s.buf[s.from:s.to])
			s.from = 0
		} else {
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
	}
	n, err := s.r.Read(s.buf[s.to:])
	s.to += n
	if n > 0 {
		s.err = err
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	s.err = err
	return err
}
