package recorder

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// members calls member with the name of each member of the object that comes next. Member has to read its value.
func (s *splitter) members(member func(name string) error) error {
	return s.inside('{', '}', func() error {
		raw, err := s.value()
		if err != nil {
			return err
		}
		name, err := rawjson.Compact(nil, raw)
		if err != nil || name[0] != '"' {
			return errors.Join(err, fmt.Errorf("found %.20q, want the name of a member", raw))
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		return member(string(name[1 : len(name)-1]))
	})
}

// elements calls element before each element of the array that comes next. Element has to read it.
func (s *splitter) elements(element func() error) error { return s.inside('[', ']', element) }

// inside goes over what is between two brackets, with commas in between.
func (s *splitter) inside(first, last byte, one func() error) error {
	if err := s.expect(first); err != nil {
		return err
	}
	if b, err := s.peek(); err != nil {
		return err
	} else if b == last {
		return s.expect(last)
	}
	for {
		if err := one(); err != nil {
			return err
		}
		switch b, err := s.peek(); {
		case err != nil:
			return err
		case b == last:
			return s.expect(last)
		}
		if err := s.expect(','); err != nil {
			return err
		}
	}
}

// peek returns the next byte that isn't white space, and leaves it there. The end of the stream is one too early.
func (s *splitter) peek() (byte, error) {
	for {
		s.space()
		if s.from < s.to {
			return s.buf[s.from], nil
		}
		if err := s.fill(); errors.Is(err, io.EOF) {
			return 0, io.ErrUnexpectedEOF
		} else if err != nil {
			return 0, err
		}
	}
}

func (s *splitter) expect(want byte) error {
	b, err := s.peek()
	if err != nil {
		return err
	}
	if b != want {
		return fmt.Errorf("found %q, want %q", b, want)
	}
	s.pass(s.from + 1)
	return nil
}

// value returns the next value of any kind; its bytes are good until the following call.
func (s *splitter) value() ([]byte, error) {
	b, err := s.peek()
	if err != nil {
		return nil, err
	}
	if b == '{' || b == '[' || b == '"' {
		return s.bracketed()
	}
	for {
		if n := bytes.IndexAny(s.buf[s.from:s.to], ",:}] \t\r\n"); n > 0 {
			return s.take(s.from + n), nil
		} else if n == 0 {
			return nil, fmt.Errorf("found %q, want a value", b)
		}
		if s.to-s.from > maxValue {
			return nil, fmt.Errorf("found a value of more than %d MiB, want less", maxValue>>20)
		}
		if err := s.fill(); errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		} else if err != nil {
			return nil, err
		}
	}
}
