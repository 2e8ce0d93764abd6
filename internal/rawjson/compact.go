package rawjson

import (
	"fmt"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest. A decoder that recurses
// would otherwise hand its stack to whoever wrote the document.
const MaxDepth = 100

// SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Offset int    // bytes before the place
	Found  string // what stands there
	Wanted string // what could have stood there
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: found %s, want %s", e.Offset, e.Found, e.Wanted)
}

// Compact appends the canonical form of the JSON value in src to dst: white
// space dropped, and strings as [AppendString] writes them, so that equal
// strings are equal bytes. Members keep their order and numbers their digits.
// On a *SyntaxError, what it returns is dst as it was.
func Compact(dst, src []byte) ([]byte, error) {
	c := compactor{src: src, dst: dst}
	i, err := c.value(c.space(0), 0)
	if err != nil {
		return dst, err
	}
	c.flush(i)
	if i = c.space(i); i != len(src) {
		return dst, c.fault(i, "the end")
	}
	return c.dst, nil
}

// compactor copies src to dst in runs: src[start:i] is canonical already and
// is copied when something that isn't comes up.
type compactor struct {
	src, dst []byte
	start    int
}

func (c *compactor) flush(i int) {
	if c.start < i {
		c.dst = append(c.dst, c.src[c.start:i]...)
	}
	c.start = i
}

func (c *compactor) fault(i int, wanted string) error {
	found := "the end"
	if i < len(c.src) {
		r, _ := utf8.DecodeRune(c.src[i:])
		found = fmt.Sprintf("%q", r)
	}
	return &SyntaxError{Offset: i, Found: found, Wanted: wanted}
}

func (c *compactor) space(i int) int {
	if i >= len(c.src) || c.src[i] > ' ' {
		return i
	}
	c.flush(i)
	for i < len(c.src) && (c.src[i] == ' ' || c.src[i] == '\n' || c.src[i] == '\t' || c.src[i] == '\r') {
		i++
	}
	c.start = i
	return i
}

func (c *compactor) value(i, depth int) (int, error) {
	if i >= len(c.src) {
		return i, c.fault(i, "a value")
	}
	switch b := c.src[i]; {
	case b == '"':
		return c.str(i)
	case b == '{' || b == '[':
		if depth >= MaxDepth {
			return i, &SyntaxError{Offset: i, Found: fmt.Sprintf("nesting deeper than %d", MaxDepth), Wanted: "less"}
		}
		if b == '{' {
			return c.object(i, depth+1)
		}
		return c.array(i, depth+1)
	case b == '-' || '0' <= b && b <= '9':
		return c.number(i)
	case b == 't':
		return c.word(i, "true")
	case b == 'f':
		return c.word(i, "false")
	case b == 'n':
		return c.word(i, "null")
	}
	return i, c.fault(i, "a value")
}

func (c *compactor) word(i int, w string) (int, error) {
	if len(c.src)-i < len(w) || string(c.src[i:i+len(w)]) != w {
		return i, c.fault(i, w)
	}
	return i + len(w), nil
}

func (c *compactor) object(i, depth int) (_ int, err error) {
	if i = c.space(i + 1); i < len(c.src) && c.src[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(c.src) || c.src[i] != '"' {
			return i, c.fault(i, "a member name in quotes")
		}
		if i, err = c.str(i); err != nil {
			return i, err
		}
		if i = c.space(i); i >= len(c.src) || c.src[i] != ':' {
			return i, c.fault(i, `":"`)
		}
		if i, err = c.value(c.space(i+1), depth); err != nil {
			return i, err
		}
		switch i = c.space(i); {
		case i < len(c.src) && c.src[i] == '}':
			return i + 1, nil
		case i >= len(c.src) || c.src[i] != ',':
			return i, c.fault(i, `"," or "}"`)
		}
		i = c.space(i + 1)
	}
}

func (c *compactor) array(i, depth int) (_ int, err error) {
	if i = c.space(i + 1); i < len(c.src) && c.src[i] == ']' {
		return i + 1, nil
	}
	for {
		if i, err = c.value(i, depth); err != nil {
			return i, err
		}
		switch i = c.space(i); {
		case i < len(c.src) && c.src[i] == ']':
			return i + 1, nil
		case i >= len(c.src) || c.src[i] != ',':
			return i, c.fault(i, `"," or "]"`)
		}
		i = c.space(i + 1)
	}
}

func (c *compactor) digits(i int) (int, error) {
	if i >= len(c.src) || c.src[i] < '0' || c.src[i] > '9' {
		return i, c.fault(i, "a digit")
	}
	for i < len(c.src) && '0' <= c.src[i] && c.src[i] <= '9' {
		i++
	}
	return i, nil
}

func (c *compactor) number(i int) (_ int, err error) {
	if c.src[i] == '-' {
		i++
	}
	if i < len(c.src) && c.src[i] == '0' {
		i++
	} else if i, err = c.digits(i); err != nil {
		return i, err
	}
	if i < len(c.src) && c.src[i] == '.' {
		if i, err = c.digits(i + 1); err != nil {
			return i, err
		}
	}
	if i < len(c.src) && (c.src[i] == 'e' || c.src[i] == 'E') {
		i++
		if i < len(c.src) && (c.src[i] == '+' || c.src[i] == '-') {
			i++
		}
		if i, err = c.digits(i); err != nil {
			return i, err
		}
	}
	return i, nil
}
