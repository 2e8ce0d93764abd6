package rawjson

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// MaxDepth bounds how deep arrays and objects may nest. A decoder that recurses
// would otherwise hand its stack to the document's author.
const MaxDepth = 100

// SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Offset int    // bytes before the place
	Found  string // what is there
	Wanted string // what could have been there
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: found %s, want %s", e.Offset, e.Found, e.Wanted)
}

// Compact appends the canonical form of the JSON value in src to dst: white
// space dropped, and strings as [AppendString] writes them, so that equal
// strings are equal bytes. Members keep their order and numbers their digits;
// an object with two of one name is refused.
// On a *SyntaxError, what it returns is dst as it was.
func Compact(dst, src []byte) ([]byte, error) {
	return compact(compactor{src: src, dst: dst})
}

func compact(c compactor) ([]byte, error) {
	dst := c.dst
	i, err := c.value(c.space(0), 0)
	if err != nil {
		return dst, err
	}
	c.flush(i)
	if i = c.space(i); i != len(c.src) {
		return dst, c.fault(i, "the end")
	}
	return c.dst, nil
}

// compactor copies src to dst in runs: src[start:i] is canonical already and
// is copied when something that isn't comes up.
type compactor struct {
	src, dst []byte
	start    int
	odd      bool // whether a string had more than plain bytes since this was cleared

	outline *Outline // where one is wanted

	names [48]span // of the members so far of the objects that i is inside of
	n     int      // how many they are
}

// span is a part of src. Spans in an array, and no slices of slices: a pointer
// inside of the compactor would move it to the heap.
type span struct{ from, to int }

// written is the place of src[i] in the canonical form, once what is before it is
// read.
func (c *compactor) written(i int) int { return len(c.dst) + i - c.start }

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
	if i < len(c.src) && c.src[i] <= ' ' {
		return c.skipSpace(i)
	}
	return i
}

func (c *compactor) skipSpace(i int) int {
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
	outer := c.n
	var many map[string]bool
	for {
		if i >= len(c.src) || c.src[i] != '"' {
			return i, c.fault(i, "a member name in quotes")
		}
		begin, from := i, c.written(i)
		c.odd = false
		if i, err = c.str(i); err != nil {
			return i, err
		}
		to := c.written(i)
		if many, err = c.once(begin, i, outer, many); err != nil {
			return begin, err
		}
		if i = c.space(i); i >= len(c.src) || c.src[i] != ':' {
			return i, c.fault(i, `":"`)
		}
		i = c.space(i + 1)
		at := -1
		if c.outline != nil && depth <= outlined {
			at = len(c.outline.spans)
			c.outline.spans = append(c.outline.spans, partSpan{depth, span{from, to}, span{from: c.written(i)}})
		}
		if i, err = c.value(i, depth); err != nil {
			return i, err
		}
		if at >= 0 {
			c.outline.spans[at].value.to = c.written(i)
		}
		switch i = c.space(i); {
		case i < len(c.src) && c.src[i] == '}':
			c.n = outer
			return i + 1, nil
		case i >= len(c.src) || c.src[i] != ',':
			return i, c.fault(i, `"," or "}"`)
		}
		i = c.space(i + 1)
	}
}

// fewMembers is up to how many names of an object are looked through one by one.
const fewMembers = 32

// once refuses the member whose name, quotes included, is src[begin:end] where
// the object has one of that name: decoders don't agree which of two counts,
// and a patch can't tell them apart. outer is where the object's names begin;
// many holds them all where they are many, or spelt in one of several ways.
func (c *compactor) once(begin, end, outer int, many map[string]bool) (map[string]bool, error) {
	name := c.src[begin:end]
	if c.odd {
		s, _ := Unquote(name)
		name = AppendString(nil, s)
	}
	twice := false
	if many == nil && (c.odd || c.n-outer >= fewMembers || c.n == len(c.names)) {
		many = make(map[string]bool, 2*fewMembers)
		for _, b := range c.names[outer:c.n] {
			many[string(c.src[b.from:b.to])] = true
		}
	}
	if many != nil {
		twice = many[string(name)]
		many[string(name)] = true
	} else {
		for _, b := range c.names[outer:c.n] {
			// The end of a name differs more often than its beginning.
			if b.to-b.from == len(name) && c.src[b.to-2] == name[len(name)-2] && bytes.Equal(c.src[b.from:b.to], name) {
				twice = true
				break
			}
		}
		c.names[c.n] = span{begin, end}
		c.n++
	}
	if twice {
		return many, &SyntaxError{Offset: begin, Found: fmt.Sprintf("a second member %.80s", name), Wanted: "it once"}
	}
	return many, nil
}

func (c *compactor) array(i, depth int) (_ int, err error) {
	outline := c.outline
	c.outline = nil // which has nothing of arrays
	if i = c.space(i + 1); i < len(c.src) && c.src[i] == ']' {
		c.outline = outline
		return i + 1, nil
	}
	for {
		if i, err = c.value(i, depth); err != nil {
			return i, err
		}
		switch i = c.space(i); {
		case i < len(c.src) && c.src[i] == ']':
			c.outline = outline
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
