package formats

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// messagePack turns MessagePack into JSON (github.com/msgpack/msgpack, spec.md). What JSON can't have is
// spelled as it can: keys that are no text as the text of their JSON, binary data in base64.
type messagePack struct {
	in    []byte
	out   []byte
	depth int
}

var errShortPack = errors.New("found its end in the middle of a value: it was cut off")

func fromMessagePack(in []byte) ([]byte, error) {
	m := &messagePack{in: in}
	if err := m.value(); err != nil {
		return nil, err
	}
	if len(m.in) > 0 {
		return nil, fmt.Errorf("found %d bytes after the value, want none", len(m.in))
	}
	return m.out, nil
}

func (m *messagePack) take(n uint64) ([]byte, error) {
	if n > uint64(len(m.in)) {
		return nil, errShortPack
	}
	b := m.in[:n]
	m.in = m.in[n:]
	return b, nil
}

// number reads n bytes, the most significant first.
func (m *messagePack) number(n uint64) (uint64, error) {
	b, err := m.take(n)
	if err != nil {
		return 0, err
	}
	var all [8]byte
	copy(all[8-n:], b)
	return binary.BigEndian.Uint64(all[:]), nil
}

func (m *messagePack) value() error {
	b, err := m.take(1)
	if err != nil {
		return err
	}
	switch c := b[0]; {
	case c <= 0x7f:
		m.out = strconv.AppendUint(m.out, uint64(c), 10)
	case c <= 0x8f:
		return m.mapping(uint64(c & 0x0f))
	case c <= 0x9f:
		return m.list(uint64(c & 0x0f))
	case c <= 0xbf:
		return m.text(uint64(c & 0x1f))
	case c >= 0xe0:
		m.out = strconv.AppendInt(m.out, int64(int8(c)), 10)
	default:
		return m.marked(c)
	}
	return nil
}

// marked reads a value whose first byte says its type alone.
func (m *messagePack) marked(c byte) error {
	switch c {
	case 0xc0:
		m.out = append(m.out, "null"...)
	case 0xc2:
		m.out = append(m.out, "false"...)
	case 0xc3:
		m.out = append(m.out, "true"...)
	case 0xc4, 0xc5, 0xc6:
		return m.sized(uint64(1)<<(c-0xc4), m.binary)
	case 0xca, 0xcb:
		return m.float(uint64(4) << (c - 0xca))
	case 0xcc, 0xcd, 0xce, 0xcf:
		n, err := m.number(uint64(1) << (c - 0xcc))
		m.out = strconv.AppendUint(m.out, n, 10)
		return err
	case 0xd0, 0xd1, 0xd2, 0xd3:
		size := uint64(1) << (c - 0xd0)
		n, err := m.number(size)
		shift := 64 - 8*size
		m.out = strconv.AppendInt(m.out, int64(n<<shift)>>shift, 10)
		return err
	case 0xd9, 0xda, 0xdb:
		return m.sized(uint64(1)<<(c-0xd9), m.text)
	case 0xdc, 0xdd:
		return m.sized(uint64(2)<<(c-0xdc), m.list)
	case 0xde, 0xdf:
		return m.sized(uint64(2)<<(c-0xde), m.mapping)
	default:
		return fmt.Errorf("found the type %#x of MessagePack, want one that JSON has", c)
	}
	return nil
}

func (m *messagePack) sized(bytes uint64, read func(uint64) error) error {
	n, err := m.number(bytes)
	if err != nil {
		return err
	}
	return read(n)
}

func (m *messagePack) float(size uint64) error {
	n, err := m.number(size)
	if err != nil {
		return err
	}
	f := math.Float64frombits(n)
	if size == 4 {
		f = float64(math.Float32frombits(uint32(n)))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		m.out = append(m.out, "null"...)
		return nil
	}
	m.out = strconv.AppendFloat(m.out, f, 'g', -1, 64)
	return nil
}

func (m *messagePack) text(n uint64) error {
	b, err := m.take(n)
	if err == nil {
		m.out = rawjson.AppendString(m.out, string(b))
	}
	return err
}

func (m *messagePack) binary(n uint64) error {
	b, err := m.take(n)
	if err == nil {
		m.out = rawjson.AppendString(m.out, base64.StdEncoding.EncodeToString(b))
	}
	return err
}

// enter bounds how deep values may be in each other.
func (m *messagePack) enter() error {
	if m.depth++; m.depth > 200 {
		return errors.New("found values more than 200 deep in each other, want fewer")
	}
	return nil
}

func (m *messagePack) list(n uint64) error {
	if err := m.enter(); err != nil {
		return err
	}
	m.out = append(m.out, '[')
	for i := range n {
		if i > 0 {
			m.out = append(m.out, ',')
		}
		if err := m.value(); err != nil {
			return err
		}
	}
	m.out = append(m.out, ']')
	m.depth--
	return nil
}

func (m *messagePack) mapping(n uint64) error {
	if err := m.enter(); err != nil {
		return err
	}
	m.out = append(m.out, '{')
	for i := range n {
		if i > 0 {
			m.out = append(m.out, ',')
		}
		start := len(m.out)
		if err := m.value(); err != nil {
			return err
		}
		if m.out[start] != '"' {
			key := string(m.out[start:])
			m.out = rawjson.AppendString(m.out[:start], key)
		}
		m.out = append(m.out, ':')
		if err := m.value(); err != nil {
			return err
		}
	}
	m.out = append(m.out, '}')
	m.depth--
	return nil
}
