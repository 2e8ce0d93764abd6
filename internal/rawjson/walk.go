package rawjson

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
)

// IsObject reports whether the value raw is an object.
func IsObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// Cursor steps through the members of an object, in their order.
type Cursor struct {
	raw []byte
	i   int
}

// Object returns a cursor before the first member of raw. Where raw is no
// object, there are none.
func Object(raw []byte) Cursor {
	if !IsObject(raw) {
		raw = nil
	}
	return Cursor{raw: raw, i: 1}
}

// Next returns the next member: its name as it is spelt, without the quotes,
// and its value. Both are parts of the object's own bytes.
func (c *Cursor) Next() (name, value []byte, ok bool) {
	i := c.i
	if i >= len(c.raw) || c.raw[i] != '"' {
		return nil, nil, false
	}
	end := skipString(c.raw, i)
	name = c.raw[i+1 : max(i+1, end-1)]
	from := min(end+1, len(c.raw)) // after the colon
	to := skip(c.raw, from)
	c.i = to + 1 // after the comma
	return name, c.raw[from:to], true
}

// Offset is where the next member starts, or one after the closing brace.
func (c *Cursor) Offset() int { return c.i }

// Members ranges over the members of an object; see [Cursor.Next].
func Members(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for c := Object(raw); ; {
			name, value, ok := c.Next()
			if !ok || !yield(name, value) {
				return
			}
		}
	}
}

// Elements ranges over the elements of an array. Where raw is no array, there
// are none.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(raw) < 2 || raw[0] != '[' || raw[1] == ']' {
			return
		}
		for i := 1; i < len(raw); {
			end := skip(raw, i)
			if !yield(raw[i:end]) {
				return
			}
			i = end + 1
		}
	}
}

// Get returns the value at a path of member names, or nil. Names are compared
// as they are spelt, so this is for names that need no escapes.
func Get(raw []byte, path ...string) []byte {
	for _, want := range path {
		c := Object(raw)
		for {
			name, value, ok := c.Next()
			if !ok {
				return nil
			}
			if string(name) == want {
				raw = value
				break
			}
		}
	}
	return raw
}

// Text returns the string at a path, or "" where there is none.
func Text(raw []byte, path ...string) string {
	s, _ := Unquote(Get(raw, path...))
	return s
}

// skip returns the offset after the value that starts at i.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' {
		i++
	}
	return i
}

// skipString looks for the closing quote eight bytes at a time: most of the
// time spent on an object is spent here. The arithmetic finds the lowest byte
// that is a quote or a backslash (Warren, Hacker's Delight, 6-1).
func skipString(b []byte, i int) int {
	const (
		ones   = 0x0101010101010101
		highs  = 0x8080808080808080
		quotes = '"' * ones
		slants = '\\' * ones
	)
	i++
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		q, s := w^quotes, w^slants
		hit := ((q-ones)&^q | (s-ones)&^s) & highs
		if hit == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(hit) / 8
		if b[i] == '"' {
			return i + 1
		}
		i += 2
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(b)
}

func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = skipString(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

// same steps over the next member where it is the same, to the byte, as the
// next member of other, and steps over that as well.
func (c *Cursor) same(other *Cursor) bool {
	ahead := *other
	if _, _, ok := ahead.Next(); !ok {
		return false
	}
	member := other.raw[other.i : ahead.i-1]
	end := c.i + len(member)
	if end >= len(c.raw) || (c.raw[end] != ',' && c.raw[end] != '}') || !bytes.Equal(c.raw[c.i:end], member) {
		return false
	}
	c.i, *other = end+1, ahead
	return true
}
