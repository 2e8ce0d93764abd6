package auditlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxValue bounds one value of the log, which is kept in memory: an answer of the API server that
// lists a large cluster has tens of megabytes.
const maxValue = 256 << 20

// arrays are the members under which exports of log services have their entries: of an
// EventList, of CloudWatch's FilterLogEvents and subscriptions, of Event Hubs, and of
// CloudWatch Logs Insights.
var arrays = map[string]bool{"items": true, "events": true, "logEvents": true, "records": true, "results": true}

// stream reads the objects of a log: one after the other, in an array, or in an array that
// is a member of an object.
type stream struct {
	meter *meter
	dec   *json.Decoder
	limit int64 // of a value
	good  int64 // where the last whole value ended
}

func newStream(in io.Reader) *stream {
	m := &meter{in: withoutStamps(in)}
	return &stream{meter: m, dec: json.NewDecoder(m), limit: maxValue}
}

// meter refuses to read more than a value may have.
type meter struct {
	in    io.Reader
	total int64
	left  int64
}

var errHuge = fmt.Errorf("found a value of more than %d MiB, want smaller ones", maxValue>>20)

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errHuge
	}
	n, err := m.in.Read(p)
	m.total, m.left = m.total+int64(n), m.left-int64(n)
	return n, err
}

// each calls f for each object. A value that is cut off at the end is counted in torn.
func (s *stream) each(f func(members) error) (torn int64, err error) {
	for {
		s.meter.left = s.limit
		err := s.value(f)
		switch {
		case err == nil:
			s.good = s.dec.InputOffset()
		case errors.Is(err, io.EOF):
			return 0, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return max(1, s.meter.total-s.good), nil
		default:
			return 0, fmt.Errorf("byte %d: %w", s.dec.InputOffset(), err)
		}
	}
}

func (s *stream) value(f func(members) error) error {
	t, err := s.dec.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('['):
		return s.array(f)
	case json.Delim('{'):
		return s.object(f)
	}
	return fmt.Errorf("found %.60q, want a JSON object", fmt.Sprint(t))
}

func (s *stream) array(f func(members) error) error {
	for s.dec.More() {
		s.meter.left = s.limit
		var raw json.RawMessage
		if err := s.decode(&raw); err != nil {
			return err
		}
		if m := parse(raw); m != nil {
			if err := f(m); err != nil {
				return err
			}
		}
		s.good = s.dec.InputOffset()
	}
	return s.close()
}

// object takes an object apart; its entries are elements of one of its members, or it is
// one itself.
func (s *stream) object(f func(members) error) error {
	m := members{}
	listed := false
	for s.dec.More() {
		t, err := s.dec.Token()
		if err != nil {
			return unexpected(err)
		}
		name, _ := t.(string)
		if arrays[name] {
			isArray, err := s.opens()
			if err != nil {
				return err
			}
			if isArray {
				listed = true
				if err := s.array(f); err != nil {
					return err
				}
			}
			continue
		}
		var raw json.RawMessage
		if err := s.decode(&raw); err != nil {
			return err
		}
		m[name] = raw
	}
	if err := s.close(); err != nil || listed {
		return err
	}
	return f(m)
}

// opens reads the beginning of an array; anything else in its place is passed over.
func (s *stream) opens() (bool, error) {
	t, err := s.dec.Token()
	if err != nil {
		return false, unexpected(err)
	}
	if t != json.Delim('{') {
		return t == json.Delim('['), nil
	}
	for depth := 1; depth > 0; {
		t, err := s.dec.Token()
		if err != nil {
			return false, unexpected(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return false, nil
}

func (s *stream) decode(raw *json.RawMessage) error { return unexpected(s.dec.Decode(raw)) }

func (s *stream) close() error {
	_, err := s.dec.Token()
	return unexpected(err)
}

// unexpected is the error of an end within a value.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// parse takes an element apart. Those of CloudWatch Logs Insights are lists of fields.
func parse(raw json.RawMessage) members {
	if len(raw) > 0 && raw[0] == '[' {
		var fields []struct{ Field, Value string }
		m := members{}
		if json.Unmarshal(raw, &fields) == nil {
			for _, f := range fields {
				m[f.Field], _ = json.Marshal(f.Value)
			}
		}
		return m
	}
	var m members
	if json.Unmarshal(raw, &m) != nil {
		return members{}
	}
	return m
}

// withoutStamps takes off what exports of CloudWatch to S3 have before the JSON of each line:
// a time and a space.
func withoutStamps(in io.Reader) io.Reader {
	b := bufio.NewReaderSize(in, 64<<10)
	start, _ := b.Peek(64)
	at, _, ok := bytes.Cut(bytes.TrimLeft(start, " \t\r\n\ufeff"), []byte(" "))
	if !ok || len(at) < 20 || at[4] != '-' || at[10] != 'T' {
		return b
	}
	return &unstamped{in: b}
}

// unstamped cuts the first word of every line.
type unstamped struct {
	in     *bufio.Reader
	rest   []byte
	inside bool // of a line
}

func (s *unstamped) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		chunk, err := s.in.ReadSlice('\n')
		if len(chunk) == 0 {
			return 0, err
		}
		begins := !s.inside
		s.inside = chunk[len(chunk)-1] != '\n'
		if _, after, ok := bytes.Cut(chunk, []byte(" ")); ok && begins {
			chunk = after
		}
		s.rest = chunk
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
